// The arrays that one call of a program returns: NumPy's, or buffers on a GPU.
#pragma once

#include <memory>
#include <vector>

#include "arrays/device_allocation.h"
#include "numpy_api.h"
#include "runtime/cuda/device.h"
#include "runtime/result_sink.h"

namespace parpy {

// Constructed before the call, with the GIL held.
class ReturnedArrays final : public ResultSink {
public:
    ReturnedArrays() = default;
    ~ReturnedArrays() override;
    ReturnedArrays(const ReturnedArrays&) = delete;
    ReturnedArrays& operator=(const ReturnedArrays&) = delete;

    // The program runs on this device, so arrays are allocated there.
    void use_device(const cuda::Device& device, cuda::Stream stream);
    // Enqueues copies of arrays made on a device to NumPy arrays, which are the results from here
    // on and complete when the stream has been synchronised. This object keeps the device's memory
    // until then. Without the GIL.
    [[nodiscard]] RuntimeError copy_out();

    // May be called with or without the GIL, on the thread of the call.
    void* make(std::size_t argument, ir::Scalar type, std::span<const std::int64_t> shape,
               RuntimeError& error) override;

    // The array for this argument, a new reference; null if the program made none, or with an
    // exception set after an error. With the GIL.
    [[nodiscard]] PyObject* take(std::size_t argument);

private:
    struct Made {
        std::size_t argument = 0;
        ir::Scalar type{};
        std::vector<std::int64_t> shape;
        PyObject* array = nullptr;                 // owned; null if a buffer is returned
        std::unique_ptr<DeviceAllocation> memory;  // null if the program runs on the host
        std::size_t bytes = 0;
    };
    PyObject* numpy_array(ir::Scalar type, std::span<const std::int64_t> shape,
                          RuntimeError& error);

    std::vector<Made> made_;
    const cuda::Device* device_ = nullptr;
    cuda::Stream stream_ = nullptr;
};

}  // namespace parpy
