// See host_staging.h.
#include "runtime/cuda/memory/host_staging.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "support/abi.h"

namespace parpy::cuda {

namespace {

constexpr unsigned kPortable = 1;         // pinned for every context
constexpr unsigned kNoTiming = 2;         // events without timing
constexpr std::int64_t kSlice = 1 << 19;  // bytes that one worker copies at a time
constexpr std::int64_t kCopyWorkers = 8;  // more workers are not faster

void copy_in_parallel(void* to, const void* from, std::size_t bytes) {
    struct Frame {
        char* to;
        const char* from;
    } frame{static_cast<char*>(to), static_cast<const char*>(from)};
    const auto size = static_cast<std::int64_t>(bytes);
    parpy_parallel_for(
        nullptr, size, size / kSlice, kCopyWorkers,
        [](void* f, std::int64_t begin, std::int64_t end, std::int64_t) {
            const auto& part = *static_cast<const Frame*>(f);
            std::memcpy(part.to + begin, part.from + begin, static_cast<std::size_t>(end - begin));
        },
        &frame);
}

RuntimeError copy_failure(Result result) {
    return Driver::instance().failure(result, "copying an array between the CPU and the GPU");
}

}  // namespace

HostStaging& HostStaging::of(const Device& device) {
    // Never destroyed: a thread may still copy while the process ends.
    static auto& all = *new std::deque<HostStaging>(static_cast<std::size_t>(device_count()));
    return all[static_cast<std::size_t>(device.index)];
}

bool HostStaging::prepare() {
    if (state_ != State::kNew) return state_ == State::kReady;
    state_ = State::kFailed;
    const Driver& driver = Driver::instance();
    for (Buffer& buffer : buffers_) {
        if (driver.cuMemHostAlloc(&buffer.memory, kBytes, kPortable) != kSuccess ||
            driver.cuEventCreate(&buffer.free, kNoTiming) != kSuccess) {
            return false;
        }
    }
    state_ = State::kReady;
    return true;
}

bool HostStaging::to_device(DevicePointer to, const void* from, std::size_t bytes, Stream stream,
                            RuntimeError& error) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !prepare()) return false;
    const Driver& driver = Driver::instance();
    const auto* source = static_cast<const char*>(from);
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t size = std::min(kBytes, bytes - done);
        const Buffer& buffer = buffers_[next_];
        next_ = (next_ + 1) % kBuffers;
        Result result = driver.cuEventSynchronize(buffer.free);
        if (result == kSuccess) {
            copy_in_parallel(buffer.memory, source + done, size);
            result = driver.cuMemcpyHtoDAsync(to + done, buffer.memory, size, stream);
        }
        if (result == kSuccess) result = driver.cuEventRecord(buffer.free, stream);
        if (result != kSuccess) {
            error = copy_failure(result);
            return true;
        }
        done += size;
    }
    return true;
}

bool HostStaging::to_host(void* to, DevicePointer from, std::size_t bytes, Stream stream,
                          RuntimeError& error) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !prepare()) return false;
    const Driver& driver = Driver::instance();
    auto* target = static_cast<char*>(to);
    const std::size_t first = next_;
    const std::size_t parts = (bytes + kBytes - 1) / kBytes;
    const auto buffer_of = [&](std::size_t part) -> const Buffer& {
        return buffers_[(first + part) % kBuffers];
    };
    const auto size_of = [&](std::size_t part) { return std::min(kBytes, bytes - part * kBytes); };
    const auto enqueue = [&](std::size_t part) {
        const Buffer& buffer = buffer_of(part);
        Result result = driver.cuEventSynchronize(buffer.free);  // recorded by an earlier call
        if (result == kSuccess) {
            result = driver.cuMemcpyDtoHAsync(buffer.memory, from + part * kBytes, size_of(part),
                                              stream);
        }
        return result == kSuccess ? driver.cuEventRecord(buffer.free, stream) : result;
    };

    Result result = kSuccess;
    for (std::size_t part = 0; part < std::min(parts, kBuffers) && result == kSuccess; ++part)
        result = enqueue(part);
    for (std::size_t part = 0; part < parts && result == kSuccess; ++part) {
        result = driver.cuEventSynchronize(buffer_of(part).free);
        if (result != kSuccess) break;
        copy_in_parallel(target + part * kBytes, buffer_of(part).memory, size_of(part));
        if (part + kBuffers < parts) result = enqueue(part + kBuffers);
    }
    next_ = (first + parts) % kBuffers;
    if (result != kSuccess) error = copy_failure(result);
    return true;
}

}  // namespace parpy::cuda
