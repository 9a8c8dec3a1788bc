// Memory of a GPU for an array of which the device uses some rows alone: addresses for all of it,
// and memory where it was asked for.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Not thread-safe. The destructor waits for the work of the device, and runs wherever the last
// reference goes; nobody hears of a failure there.
class SparseMemory {
public:
    // Devices of `peers` may touch it, as far as they can (peers.h). Null and `error` set on
    // failure. Where a device cannot map memory, all of it is there from the beginning.
    [[nodiscard]] static std::unique_ptr<SparseMemory> make(const Device& device, std::size_t bytes,
                                                            const std::vector<int>& peers,
                                                            RuntimeError& error);
    ~SparseMemory();
    SparseMemory(const SparseMemory&) = delete;
    SparseMemory& operator=(const SparseMemory&) = delete;

    [[nodiscard]] DevicePointer pointer() const { return begin_; }
    [[nodiscard]] const Device& device() const { return device_; }
    // Bytes that are there.
    [[nodiscard]] std::size_t mapped() const { return mapped_; }

    // Sees to it that there is memory behind the bytes first … last - 1. What is there keeps its
    // contents; new memory has arbitrary ones.
    [[nodiscard]] RuntimeError cover(std::size_t first, std::size_t last);

private:
    SparseMemory(const Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
    [[nodiscard]] RuntimeError map(std::size_t first, std::size_t last);

    const Device& device_;
    const std::size_t bytes_;  // whole granules
    DevicePointer begin_ = 0;
    std::size_t granule_ = 0;  // 0: all of it is one allocation
    std::size_t mapped_ = 0;
    std::vector<int> accessing_;                                  // devices
    std::map<std::size_t, std::pair<std::size_t, Pages>> there_;  // by first byte: end, memory
};

}  // namespace parpy::cuda
