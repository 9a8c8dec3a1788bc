// Memory of arrays that are made while a graph is captured. It is allocated at once, not by a node
// of the graph: such a node runs anew with every launch, and a graph in which nothing frees what it
// allocated can be launched once only. The array and the graph own the memory together, whichever
// ends last; a graph ends with the last executable graph that was made of it.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

class GraphMemory {
public:
    // Whether the driver lets graphs own something.
    [[nodiscard]] static bool available();

    // For the graph that `stream` records, and the caller, who calls drop() once. Null and `error`
    // set on failure. The device is current.
    [[nodiscard]] static GraphMemory* allocate(const Device& device, std::size_t bytes,
                                               Stream stream, RuntimeError& error);

    [[nodiscard]] DevicePointer pointer() const { return pointer_; }

    // The caller's share ends; `this` may be gone. Nothing of CUDA is called: the driver, which
    // calls this for graphs, forbids it. The memory is freed by UsedStreams::retry().
    void drop();

private:
    GraphMemory(const Device& device, DevicePointer pointer) : device_(device), pointer_(pointer) {}

    const Device& device_;
    const DevicePointer pointer_;
    std::atomic<int> owners_{1};
};

}  // namespace parpy::cuda
