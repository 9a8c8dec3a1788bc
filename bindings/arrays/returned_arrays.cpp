// See returned_arrays.h.
#include "arrays/returned_arrays.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arrays/array_intake.h"
#include "arrays/device_access.h"
#include "raise.h"
#include "runtime/cuda/memory/device_memory.h"

namespace nb = nanobind;

namespace parpy {
namespace {

class Gil {
public:
    Gil() : state_(PyGILState_Ensure()) {}
    ~Gil() { PyGILState_Release(state_); }
    Gil(const Gil&) = delete;
    Gil& operator=(const Gil&) = delete;

private:
    PyGILState_STATE state_;
};

// NumPy's number of the type; -1: it has none.
int number_of(ir::Scalar type) {
    const auto found = std::ranges::find(kScalarOfTypeNumber, static_cast<std::uint8_t>(type));
    return found == kScalarOfTypeNumber.end() || type == ir::Scalar::kBF16
               ? -1
               : static_cast<int>(found - kScalarOfTypeNumber.begin());
}

RuntimeError no_memory(std::size_t bytes) {
    return {
        Code::kP561, "no memory for a returned array of " + std::to_string(bytes) + " bytes", {}};
}

}  // namespace

ReturnedArrays::~ReturnedArrays() {
    for (Made& made : made_)
        Py_CLEAR(made.array);
}

void ReturnedArrays::use_device(const cuda::Device& device, cuda::Stream stream) {
    device_ = &device;
    stream_ = stream;
}

void* ReturnedArrays::make(std::size_t argument, ir::Scalar type,
                           std::span<const std::int64_t> shape, RuntimeError& error) {
    Made made{argument, type, {shape.begin(), shape.end()}, nullptr, nullptr, 0};
    std::size_t bytes = static_cast<std::size_t>(ir::size_in_bytes(type));
    for (const std::int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) {
            error = no_memory(SIZE_MAX);
            return nullptr;
        }
    }
    made.bytes = bytes;
    void* memory = nullptr;
    if (device_ != nullptr) {
        made.memory = DeviceAllocation::make(*device_, bytes, stream_, error);
        if (made.memory != nullptr) memory = reinterpret_cast<void*>(made.memory->pointer());
    } else {
        const Gil gil;
        made.array = numpy_array(type, shape, error);
        if (made.array != nullptr)
            memory = PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.array));
    }
    if (memory == nullptr) return nullptr;
    for (Made& before : made_) {
        if (before.argument != argument) continue;
        const Gil gil;
        Py_CLEAR(before.array);
        before = std::move(made);
        return memory;
    }
    made_.push_back(std::move(made));
    return memory;
}

PyObject* ReturnedArrays::numpy_array(ir::Scalar type, std::span<const std::int64_t> shape,
                                      RuntimeError& error) {
    const int number = number_of(type);
    if (number < 0) {
        error = {Code::kP551,
                 "an array of " + std::string(ir::name(type)) +
                     " is returned, which NumPy has no "
                     "type for",
                 {}};
        error.help = "convert it, or store it to a buffer that is passed";
        return nullptr;
    }
    static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
    auto* sizes = reinterpret_cast<npy_intp*>(const_cast<std::int64_t*>(shape.data()));
    PyObject* array = PyArray_EMPTY(static_cast<int>(shape.size()), sizes, number, 0);
    if (array == nullptr) {
        PyErr_Clear();
        std::size_t bytes = static_cast<std::size_t>(ir::size_in_bytes(type));
        for (const std::int64_t extent : shape)
            bytes *= static_cast<std::size_t>(extent);
        error = no_memory(bytes);
    }
    return array;
}

RuntimeError ReturnedArrays::copy_out() {
    RuntimeError error;
    for (Made& made : made_) {
        if (made.memory == nullptr) continue;
        {
            const Gil gil;
            made.array = numpy_array(made.type, made.shape, error);
        }
        if (made.array == nullptr) return error;
        void* to = PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.array));
        if (made.bytes > 0)
            error = cuda::copy_to_host(*device_, to, made.memory->pointer(), made.bytes, stream_);
        if (error.failed()) return error;
    }
    return error;
}

PyObject* ReturnedArrays::take(std::size_t argument) {
    const auto made = std::ranges::find(made_, argument, &Made::argument);
    if (made == made_.end()) return nullptr;
    if (made->array != nullptr) return std::exchange(made->array, nullptr);
    try {
        const int number = number_of(made->type);
        PyArray_Descr* type = PyArray_DescrFromType(number < 0 ? NPY_HALF : number);
        const nb::object view = device_array_of(std::move(made->memory), made->shape, type);
        const std::string name(ir::name(made->type));
        return nb::module_::import_("parpy.buffer")
            .attr("on_gpu")(view, name.c_str())
            .release()
            .ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

}  // namespace parpy
