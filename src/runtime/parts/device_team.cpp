// See device_team.h.
#include "runtime/parts/device_team.h"

#include <algorithm>
#include <thread>

#include "runtime/parts/peers.h"

namespace parpy::cuda {

namespace {

constexpr unsigned kNoTiming = 2;
constexpr int kSpins = 4096;  // checks before a waiting thread yields

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

std::unique_ptr<DeviceTeam> DeviceTeam::make(const std::vector<int>& devices, RuntimeError& error) {
    const Driver& driver = Driver::instance();
    std::unique_ptr<DeviceTeam> team(new DeviceTeam);
    for (const int index : devices) {
        const Device& device = cuda::device(index);
        auto& member = *team->members_.emplace_back(std::make_unique<Member>(device));
        member.context = device.context(error);
        if (error.failed()) return nullptr;
        const CurrentContext current(device, error);
        if (error.failed()) return nullptr;
        Result result = driver.cuStreamCreate(&member.stream, kNonBlocking);
        if (result == kSuccess) result = driver.cuStreamCreate(&member.copies, kNonBlocking);
        for (auto* events : {&member.ready, &member.taken}) {
            for (Event& event : *events) {
                if (result == kSuccess) result = driver.cuEventCreate(&event, kNoTiming);
            }
        }
        if (result != kSuccess) {
            error = driver.failure(result, "making a stream on GPU " + std::to_string(index));
            return nullptr;
        }
    }
    for (const int a : devices) {
        for (const int b : devices) {
            let_access(cuda::device(a), cuda::device(b), error);
            if (error.failed()) return nullptr;
        }
    }
    return team;
}

DeviceTeam::~DeviceTeam() {
    const Driver& driver = Driver::instance();
    for (const auto& member : members_) {
        RuntimeError ignored;
        const CurrentContext current(member->device, ignored);
        if (ignored.failed()) continue;
        for (const auto* events : {&member->ready, &member->taken}) {
            for (Event event : *events) {
                if (event != nullptr) driver.cuEventDestroy(event);
            }
        }
        for (Stream stream : {member->stream, member->copies}) {
            if (stream != nullptr) driver.cuStreamDestroy(stream);
        }
    }
}

RuntimeError DeviceTeam::begin(std::vector<RowExchange> exchanges) {
    exchanges_ = std::move(exchanges);
    failed_.store(false, std::memory_order_relaxed);
    for (const auto& member : members_) {
        member->turn = 0;
        member->begun.assign(exchanges_.size(), 0);
        for (auto* counter : {&member->is_ready, &member->has_taken, &member->is_done})
            counter->store(0, std::memory_order_relaxed);
    }
    const Driver& driver = Driver::instance();
    RuntimeError error;
    for (const auto& member : members_) {
        const CurrentContext current(member->device, error);
        if (error.failed()) return error;
        const Event before = member->ready.front();
        Result result = driver.cuEventRecord(before, nullptr);
        if (result == kSuccess) result = driver.cuStreamWaitEvent(member->stream, before, 0);
        if (result != kSuccess)
            return driver.failure(result, "letting a stream wait for the default stream");
    }
    return error;
}

bool DeviceTeam::exchanges(std::int64_t number) const {
    const auto index = static_cast<std::size_t>(number);
    return index < exchanges_.size() && exchanges_[index].row != 0;
}

bool DeviceTeam::reaches(const std::atomic<std::int64_t>& counter, std::int64_t turn) const {
    for (int looks = 0; counter.load(std::memory_order_acquire) < turn; ++looks) {
        if (failed_.load(std::memory_order_relaxed)) return false;
        if (looks < kSpins) {
            relax();
        } else {
            std::this_thread::yield();
        }
    }
    return true;
}

Result DeviceTeam::copy(const Member& to, const Member& from, const RowExchange& exchange,
                        const RowsOfPart& rows, std::size_t slot, Stream stream) const {
    const Driver& driver = Driver::instance();
    const auto offset = static_cast<DevicePointer>(rows.first * exchange.row);
    const auto bytes = static_cast<std::size_t>((rows.last - rows.first) * exchange.row);
    const auto target = reinterpret_cast<DevicePointer>(to.data[slot]) + offset;
    const auto source = reinterpret_cast<DevicePointer>(from.data[slot]) + offset;
    if (exchange.outer == 1) {
        if (to.device.index == from.device.index)
            return driver.cuMemcpyDtoDAsync(target, source, bytes, stream);
        return driver.cuMemcpyPeerAsync(target, to.context, source, from.context, bytes, stream);
    }
    PeerCopy copy;
    copy.from.at = source;
    copy.from.context = from.context;
    copy.to.at = target;
    copy.to.context = to.context;
    copy.from.pitch = copy.to.pitch = static_cast<std::size_t>(exchange.pitch);
    copy.width = bytes;
    copy.height = copy.from.height = copy.to.height = static_cast<std::size_t>(exchange.outer);
    return driver.cuMemcpy3DPeerAsync(&copy, stream);
}

Result DeviceTeam::receive(Member& mine, std::size_t part, const RowExchange& exchange,
                           Stream stream, bool& left) const {
    const Driver& driver = Driver::instance();
    const std::int64_t turn = mine.turn - 1;
    const auto slot = static_cast<std::size_t>(turn % kAhead);
    Result result = driver.cuEventRecord(mine.ready[slot], mine.stream);
    if (result != kSuccess) return result;
    mine.is_ready.store(turn + 1, std::memory_order_release);
    // Its own kernels may still read the rows that it receives.
    if (stream != mine.stream && !exchange.wanted[part].empty())
        result = driver.cuStreamWaitEvent(stream, mine.ready[slot], 0);
    if (result != kSuccess) return result;

    int last = -1;  // the part whose event was waited for
    for (const RowsOfPart& rows : exchange.wanted[part]) {
        const Member& source = *members_[static_cast<std::size_t>(rows.source)];
        if (rows.source != last) {
            if (left = !reaches(source.is_ready, turn + 1); left) return kSuccess;
            result = driver.cuStreamWaitEvent(stream, source.ready[slot], 0);
            if (result != kSuccess) return result;
            last = rows.source;
        }
        result = copy(mine, source, exchange, rows, slot, stream);
        if (result != kSuccess) return result;
    }
    if (last >= 0) result = driver.cuEventRecord(mine.taken[slot], stream);
    if (result != kSuccess) return result;
    mine.has_taken.store(turn + 1, std::memory_order_release);
    return kSuccess;
}

Result DeviceTeam::finish(Member& mine, std::size_t part, const RowExchange& exchange,
                          std::int64_t turn, bool& left) const {
    const Driver& driver = Driver::instance();
    const auto slot = static_cast<std::size_t>(turn % kAhead);
    Result result = kSuccess;
    if (exchange.begun >= 0 && !exchange.wanted[part].empty())
        result = driver.cuStreamWaitEvent(mine.stream, mine.taken[slot], 0);
    if (result != kSuccess) return result;
    // Rows of this part that others read must not change until they have been copied.
    for (std::size_t other = 0; other < members_.size(); ++other) {
        const auto takes = [&](const RowsOfPart& rows) {
            return static_cast<std::size_t>(rows.source) == part;
        };
        if (std::ranges::none_of(exchange.wanted[other], takes)) continue;
        const Member& taker = *members_[other];
        if (left = !reaches(taker.has_taken, turn + 1); left) return kSuccess;
        result = driver.cuStreamWaitEvent(mine.stream, taker.taken[slot], 0);
        if (result != kSuccess) return result;
    }
    mine.is_done.store(turn + 1, std::memory_order_release);
    return kSuccess;
}

bool DeviceTeam::exchange(std::size_t part, std::int64_t number, void* data, RuntimeError& error) {
    Member& mine = *members_[part];
    const auto index = static_cast<std::size_t>(number);
    const RowExchange& exchange = exchanges_[index];
    bool left = false;
    const auto done = [&](Result result) {
        if (result == kSuccess) return !left;
        error = Driver::instance().failure(result, "copying rows between GPUs");
        fail();
        return false;
    };
    if (exchange.begun >= 0) {
        const std::int64_t turn = mine.begun[static_cast<std::size_t>(exchange.begun)];
        return done(finish(mine, part, exchange, turn, left));
    }
    // The events of a slot may be recorded again only when all parts have finished with it.
    for (const auto& member : members_) {
        if (!reaches(member->is_done, mine.turn - kAhead + 1)) return false;
    }
    mine.data[static_cast<std::size_t>(mine.turn % kAhead)] = data;
    const std::int64_t turn = mine.turn++;
    mine.begun[index] = turn;
    const bool begins = exchange.begun == RowExchange::kBegin;
    Result result = receive(mine, part, exchange, begins ? mine.copies : mine.stream, left);
    if (result == kSuccess && !left && !begins) result = finish(mine, part, exchange, turn, left);
    return done(result);
}

RuntimeError DeviceTeam::synchronize() const {
    for (const auto& member : members_) {
        for (Stream stream : {member->copies, member->stream}) {
            if (RuntimeError error = cuda::synchronize(member->device, stream); error.failed())
                return error;
        }
    }
    return {};
}

}  // namespace parpy::cuda
