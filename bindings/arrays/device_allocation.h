// Memory of a GPU that outlives the call that allocated it.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/cuda/device.h"
#include "runtime/cuda/memory/graph_memory.h"

namespace parpy {

// The memory is freed after the work of every stream and after the graphs in whose capture it was
// allocated. The destructor may run on any thread and reports no failure. Touches no Python object.
class DeviceAllocation {
public:
    // The memory is valid for work on `stream` from here on; null with `error` set. The device is
    // current.
    [[nodiscard]] static std::unique_ptr<DeviceAllocation> make(const cuda::Device& device,
                                                                std::size_t bytes,
                                                                cuda::Stream stream,
                                                                RuntimeError& error);
    ~DeviceAllocation();
    DeviceAllocation(const DeviceAllocation&) = delete;
    DeviceAllocation& operator=(const DeviceAllocation&) = delete;

    [[nodiscard]] cuda::DevicePointer pointer() const { return pointer_; }
    [[nodiscard]] const cuda::Device& device() const { return device_; }

private:
    explicit DeviceAllocation(const cuda::Device& device) : device_(device) {}

    const cuda::Device& device_;
    cuda::DevicePointer pointer_ = 0;
    cuda::GraphMemory* shared_ = nullptr;  // with graphs
};

}  // namespace parpy
