// Access of the objects of bind_device.cpp and bind_device_memory.cpp to a GPU, and its errors.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <span>

#include "arrays/device_allocation.h"
#include "numpy_api.h"
#include "raise.h"
#include "runtime/cuda/device.h"

namespace parpy {

[[noreturn]] void raise(const RuntimeError& error);
void require(cuda::Result result, const char* attempt);

// The GPU of that number; for -1 the current one of this thread. Raises if there is none.
[[nodiscard]] const cuda::Device& device_at(int index);

// Makes the device current during the lifetime of the object, or raises.
class Selected {
public:
    explicit Selected(const cuda::Device& device) : context_(device, error_) {
        if (error_.failed()) raise(error_);
    }

private:
    RuntimeError error_;
    cuda::CurrentContext context_;
};

[[nodiscard]] inline cuda::Stream stream_of(std::uint64_t handle) {
    return reinterpret_cast<cuda::Stream>(handle);
}

// A view of new memory in C order, which owns the memory (bind_device_memory.cpp).
[[nodiscard]] nanobind::object device_array_of(std::unique_ptr<DeviceAllocation> memory,
                                               std::span<const std::int64_t> shape,
                                               PyArray_Descr* type);

// Runs work(device) with the device current and without the GIL; raises the error that it returns.
template <class Work>
void without_gil(int index, const Work& work) {
    const cuda::Device& device = device_at(index);
    RuntimeError error;
    {
        const nanobind::gil_scoped_release released;
        const cuda::CurrentContext current(device, error);
        if (!error.failed()) error = work(device);
    }
    if (error.failed()) raise(error);
}

}  // namespace parpy
