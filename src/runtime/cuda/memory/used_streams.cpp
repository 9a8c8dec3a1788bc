// See used_streams.h.
#include "runtime/cuda/memory/used_streams.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/cuda/memory/device_memory.h"

namespace parpy::cuda {

namespace {

constexpr unsigned kNoTiming = 2;                              // of an event
constexpr Result kFirstOfCapture = 900, kLastOfCapture = 908;  // errors about captures

bool waits_for_default(Stream stream) {
    unsigned flags = 0;
    const Driver& driver = Driver::instance();
    return driver.cuStreamGetFlags(stream, &flags) == kSuccess && (flags & kNonBlocking) == 0;
}

}  // namespace

UsedStreams& UsedStreams::of(const Device& device) {
    // Never destroyed: arrays are freed until the very end of the process.
    static auto& all = *[] {
        auto* made = new std::vector<std::unique_ptr<UsedStreams>>;
        for (int i = 0; i < device_count(); ++i)
            made->emplace_back(new UsedStreams(cuda::device(i)));
        return made;
    }();
    return *all[static_cast<std::size_t>(device.index)];
}

void UsedStreams::note_other(Stream stream) {
    // Keep this order: querying the flags of a captured stream ends the capture.
    if (is_captured(stream) || waits_for_default(stream)) return;
    const Driver& driver = Driver::instance();
    const std::scoped_lock lock(mutex_);
    auto found = std::ranges::find(used_, stream, &Used::stream);
    if (found == used_.end()) {
        Event event = nullptr;
        if (!spare_.empty()) {
            event = spare_.back();
            spare_.pop_back();
        } else if (driver.cuEventCreate(&event, kNoTiming) != kSuccess) {
            driver.cuStreamSynchronize(stream);
            return;
        }
        found = used_.insert(used_.end(), {stream, event});
    }
    driver.cuEventRecord(found->event, stream);
}

void UsedStreams::let_default_stream_wait() {
    const Driver& driver = Driver::instance();
    for (const Used& one : used_) {
        driver.cuStreamWaitEvent(nullptr, one.event, 0);
        spare_.push_back(one.event);
    }
    used_.clear();
}

bool UsedStreams::free_now(DevicePointer pointer, std::vector<LentMemory>& lent) {
    const Driver& driver = Driver::instance();
    const BesideCaptures beside;
    if (LentMemory::is_lent(pointer)) {
        if (!beside.has_default_stream()) return false;
        std::optional<LentMemory> memory = LentMemory::taken(pointer);
        let_default_stream_wait();
        memory->wait_for(nullptr);
        lent.push_back(std::move(*memory));
        return true;
    }
    Result result = kSuccess;
    if (device_.pool() == nullptr) {
        result = driver.cuMemFree(pointer);  // waits for the device
    } else {
        if (!beside.has_default_stream()) return false;
        let_default_stream_wait();
        result = driver.cuMemFreeAsync(pointer, nullptr);
    }
    // A capture that began meanwhile forbids freeing.
    return result < kFirstOfCapture || result > kLastOfCapture;
}

void UsedStreams::keep_unfreed(DevicePointer pointer) {
    const std::scoped_lock lock(unfreed_mutex_);
    unfreed_.push_back(pointer);
    has_unfreed_.store(true, std::memory_order_relaxed);
}

void UsedStreams::free(std::span<const DevicePointer> pointers) {
    std::vector<LentMemory> lent;
    {
        const std::scoped_lock lock(mutex_);
        for (const DevicePointer pointer : pointers)
            if (!free_now(pointer, lent)) keep_unfreed(pointer);
    }
    for (const LentMemory& memory : lent)
        memory.give_back();
}

void UsedStreams::end(DevicePointer pointer) {
    live_.fetch_sub(1, std::memory_order_relaxed);
    free({&pointer, 1});
}

void UsedStreams::end_later(DevicePointer pointer) {
    live_.fetch_sub(1, std::memory_order_relaxed);
    keep_unfreed(pointer);
}

void UsedStreams::retry() {
    if (!has_unfreed_.load(std::memory_order_relaxed)) return;
    std::vector<DevicePointer> unfreed;
    {
        const std::scoped_lock lock(unfreed_mutex_);
        unfreed.swap(unfreed_);
        has_unfreed_.store(false, std::memory_order_relaxed);
    }
    free(unfreed);
}

void UsedStreams::wait() {
    const BesideCaptures beside;
    if (!beside.has_default_stream()) return;
    retry();
    {
        const std::scoped_lock lock(mutex_);
        let_default_stream_wait();
    }
    Driver::instance().cuStreamSynchronize(nullptr);
}

}  // namespace parpy::cuda
