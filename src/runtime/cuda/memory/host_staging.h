// Pinned host buffers for large copies between pageable memory and a GPU: worker threads fill or
// empty one buffer while the copy engine transfers another. The driver, by itself, copies pageable
// memory with one thread and one small buffer.
#pragma once

#include <mutex>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Smaller copies are as fast without staging.
inline constexpr std::size_t kStageFrom = std::size_t{1} << 20;

// The staging buffers of one device: made at the first large copy, kept. One copy at a time uses
// them; a copy that finds them in use is left to the driver.
class HostStaging {
public:
    [[nodiscard]] static HostStaging& of(const Device& device);

    // False: nothing was done, use a plain copy. True: the copy is enqueued, or `error` is set.
    [[nodiscard]] bool to_device(DevicePointer to, const void* from, std::size_t bytes,
                                 Stream stream, RuntimeError& error);
    // The same in the other direction; true means that `to` has been written, or `error` is set.
    [[nodiscard]] bool to_host(void* to, DevicePointer from, std::size_t bytes, Stream stream,
                               RuntimeError& error);

private:
    static constexpr std::size_t kBuffers = 4;
    static constexpr std::size_t kBytes = std::size_t{4} << 20;  // of each

    struct Buffer {
        void* memory = nullptr;
        Event free = nullptr;  // recorded after the last copy that uses the buffer
    };

    bool prepare();

    std::mutex mutex_;
    enum class State { kNew, kReady, kFailed } state_ = State::kNew;
    Buffer buffers_[kBuffers];
    std::size_t next_ = 0;
};

}  // namespace parpy::cuda
