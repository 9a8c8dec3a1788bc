// Stacks of a GPU's threads for recursive functions. The driver reserves them for all threads that
// the GPU can hold at once, so they are large only while a module needs them.
#pragma once

#include <cstddef>
#include <mutex>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// The stacks of one device. Thread-safe; the device is current.
class DeviceStacks {
public:
    [[nodiscard]] static DeviceStacks& of(const Device& device);

    // To be called when a module with recursive functions is loaded: the stack bytes of each
    // thread, kWanted or, if memory is short, fewer. 0 and `error` set: not even kLeast.
    [[nodiscard]] std::size_t begin(RuntimeError& error);
    // To be called when it is unloaded, once per successful begin(). The last call frees memory.
    void end();

    static constexpr std::size_t kWanted = 16 * 1024, kLeast = 4 * 1024;

private:
    explicit DeviceStacks(const Device& device) : device_(device) {}

    const Device& device_;
    std::mutex mutex_;
    int users_ = 0;
    std::size_t before_ = 0, bytes_ = 0;
};

}  // namespace parpy::cuda
