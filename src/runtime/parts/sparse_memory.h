// Memory of a GPU for an array of which the device uses only some rows: addresses for the whole
// array, and memory for the rows that cover() requested.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Not thread-safe. The destructor waits for the work of the device; it runs on the thread that
// drops the last reference, and ignores failures.
class SparseMemory {
public:
    // Devices of `peers` may access it, as far as possible (peers.h). Null and `error` set on
    // failure. On a device that cannot map memory, all of it is allocated at once.
    [[nodiscard]] static std::unique_ptr<SparseMemory> make(const Device& device, std::size_t bytes,
                                                            const std::vector<int>& peers,
                                                            RuntimeError& error);
    ~SparseMemory();
    SparseMemory(const SparseMemory&) = delete;
    SparseMemory& operator=(const SparseMemory&) = delete;

    [[nodiscard]] DevicePointer pointer() const { return begin_; }
    [[nodiscard]] const Device& device() const { return device_; }
    // Bytes that have memory.
    [[nodiscard]] std::size_t mapped() const { return mapped_; }

    // Makes sure that the bytes first … last - 1 have memory. Existing memory keeps its contents;
    // the contents of new memory are arbitrary.
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
