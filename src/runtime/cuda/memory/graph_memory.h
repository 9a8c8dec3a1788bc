// Memory of arrays that are made while a graph is captured. It is allocated at once, not by a node
// of the graph: such a node runs again with every launch, and a graph that does not free its
// allocations can be launched only once. The array and the graph own the memory together; the last
// owner's end frees it. A graph ends with the last executable graph that was made from it.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

class GraphMemory {
public:
    // Whether the driver supports objects that graphs own.
    [[nodiscard]] static bool available();

    // Memory for the graph that `stream` records, and for the caller, who calls drop() once. Null
    // and `error` set on failure. The device is current.
    [[nodiscard]] static GraphMemory* allocate(const Device& device, std::size_t bytes,
                                               Stream stream, RuntimeError& error);

    [[nodiscard]] DevicePointer pointer() const { return pointer_; }

    // Ends the caller's ownership; `this` may be gone. Makes no CUDA call: the driver, which calls
    // this for graphs, forbids it. UsedStreams::retry() frees the memory.
    void drop();

private:
    GraphMemory(const Device& device, DevicePointer pointer) : device_(device), pointer_(pointer) {}

    const Device& device_;
    const DevicePointer pointer_;
    std::atomic<int> owners_{1};
};

}  // namespace parpy::cuda
