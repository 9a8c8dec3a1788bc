// Memory of a GPU for Python: objects that own it, NumPy views of it, copies between host and
// device. Python handles shapes and views of views.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "arrays/device_access.h"
#include "arrays/device_allocation.h"
#include "numpy_api.h"
#include "runtime/cuda/memory/device_memory.h"
#include "runtime/cuda/memory/used_streams.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

namespace {

using cuda::CurrentContext;
using cuda::Device;
using cuda::DevicePointer;
using cuda::Driver;
using cuda::kSuccess;
using cuda::Result;

constexpr unsigned kPortable = 1, kMapped = 2;  // flags of pinned memory

class DeviceMemory {
public:
    DeviceMemory(std::size_t bytes, std::uint64_t stream, int index) {
        const Device& device = device_at(index);
        const Selected selected(device);
        RuntimeError error;
        memory_ = DeviceAllocation::make(device, bytes, stream_of(stream), error);
        if (error.failed()) raise(error);
    }
    explicit DeviceMemory(std::unique_ptr<DeviceAllocation> memory) : memory_(std::move(memory)) {}

    [[nodiscard]] std::uint64_t pointer() const { return memory_->pointer(); }
    [[nodiscard]] int device() const { return memory_->device().index; }

private:
    std::unique_ptr<DeviceAllocation> memory_;
};

class PinnedMemory {
public:
    PinnedMemory(std::size_t bytes, bool mapped) : device_(device_at(-1)) {
        const Selected selected(device_);
        require(Driver::instance().cuMemHostAlloc(&memory_, bytes == 0 ? 1 : bytes,
                                                  kPortable | (mapped ? kMapped : 0)),
                "allocating pinned memory");
    }
    ~PinnedMemory() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (!ignored.failed()) Driver::instance().cuMemFreeHost(memory_);
    }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }
    [[nodiscard]] std::uint64_t device_pointer() const {
        const Selected selected(device_);
        DevicePointer pointer = 0;
        require(Driver::instance().cuMemHostGetDevicePointer(&pointer, memory_, 0),
                "mapping memory to the GPU");
        return pointer;
    }

private:
    const Device& device_;
    void* memory_ = nullptr;
};

// Enqueues work on a stream.
template <class Work>
void on_stream(std::uint64_t stream, int index, const Work& work) {
    without_gil(index, [&](const Device& device) {
        RuntimeError error = work(device);
        cuda::UsedStreams::of(device).note(stream_of(stream));
        return error;
    });
}

void note_stream(std::uint64_t stream, int index) {
    on_stream(stream, index, [](const Device&) { return RuntimeError{}; });
}

void copy_to_device(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                    int index) {
    on_stream(stream, index, [&](const Device& device) {
        return cuda::copy_to_device(device, to, reinterpret_cast<const void*>(from), bytes,
                                    stream_of(stream));
    });
}

void copy_to_host(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                  int index) {
    on_stream(stream, index, [&](const Device& device) {
        return cuda::copy_to_host(device, reinterpret_cast<void*>(to), from, bytes,
                                  stream_of(stream));
    });
}

void copy_on_device(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                    int index) {
    on_stream(stream, index, [&](const Device&) -> RuntimeError {
        const Driver& driver = Driver::instance();
        const Result result = driver.cuMemcpyDtoDAsync(to, from, bytes, stream_of(stream));
        return result == kSuccess ? RuntimeError{} : driver.failure(result, "copying on the GPU");
    });
}

std::tuple<std::size_t, std::size_t> memory_info(int index) {
    const Device& device = device_at(index);
    const Selected selected(device);
    std::size_t free = 0, total = 0;
    require(Driver::instance().cuMemGetInfo(&free, &total), "querying free memory");
    return {free, total};
}

// ---- NumPy arrays that describe memory of a GPU, whose elements NumPy never reads

struct Extents {
    std::vector<npy_intp> sizes;
    std::size_t bytes = 0;
};

PyArray_Descr* type_of(nb::handle dtype) {
    if (!PyArray_DescrCheck(dtype.ptr()))
        throw nb::type_error("the type of elements is a np.dtype");
    return reinterpret_cast<PyArray_Descr*>(dtype.ptr());
}

Extents extents_of(nb::tuple shape, PyArray_Descr* type) {
    Extents extents;
    extents.bytes = static_cast<std::size_t>(PyDataType_ELSIZE(type));
    bool fits = true;
    for (nb::handle size : shape) {
        const auto extent = nb::cast<std::int64_t>(size);
        extents.sizes.push_back(extent);
        fits &= !__builtin_mul_overflow(extents.bytes, extent, &extents.bytes);
    }
    if (std::ranges::find(extents.sizes, 0) != extents.sizes.end()) {
        extents.bytes = 0;
    } else if (!fits || extents.bytes > PTRDIFF_MAX) {
        throw nb::value_error("the array has more bytes than an address can count");
    }
    return extents;
}

nb::object described(std::uint64_t pointer, Extents& extents, PyArray_Descr* type,
                     npy_intp* strides, int flags, nb::object owner) {
    Py_INCREF(type);  // the call steals the reference
    PyObject* array = PyArray_NewFromDescr(
        &PyArray_Type, type, static_cast<int>(extents.sizes.size()), extents.sizes.data(), strides,
        reinterpret_cast<void*>(pointer), flags | NPY_ARRAY_WRITEABLE, nullptr);
    if (array == nullptr) nb::raise_python_error();
    nb::object result = nb::steal(array);
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), owner.release().ptr()) < 0) {
        nb::raise_python_error();
    }
    return result;
}

nb::object device_view(std::uint64_t pointer, nb::tuple shape, nb::handle dtype,
                       std::optional<std::vector<npy_intp>> strides, nb::object owner) {
    PyArray_Descr* type = type_of(dtype);
    Extents extents = extents_of(std::move(shape), type);
    if (strides && strides->size() != extents.sizes.size()) {
        throw nb::value_error("strides are a number of bytes for each dimension");
    }
    return described(pointer, extents, type, strides ? strides->data() : nullptr,
                     strides ? 0 : NPY_ARRAY_C_CONTIGUOUS, std::move(owner));
}

void zero_device(std::uint64_t pointer, std::size_t bytes, std::uint64_t stream, int index) {
    const Device& device = device_at(index);
    const Selected selected(device);
    require(Driver::instance().cuMemsetD8Async(pointer, 0, bytes, stream_of(stream)),
            "clearing an array on the GPU");
    cuda::UsedStreams::of(device).note(stream_of(stream));
}

nb::object new_device_array(nb::tuple shape, nb::handle dtype, bool fortran, bool zeroed,
                            std::uint64_t stream, int index) {
    PyArray_Descr* type = type_of(dtype);
    Extents extents = extents_of(std::move(shape), type);
    auto* memory = new DeviceMemory(extents.bytes, stream, index);
    nb::object owner = nb::cast(memory, nb::rv_policy::take_ownership);
    if (zeroed && extents.bytes > 0)
        zero_device(memory->pointer(), extents.bytes, stream, memory->device());
    return described(memory->pointer(), extents, type, nullptr,
                     fortran ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS, std::move(owner));
}

void empty_device_cache() {
    if (!Driver::in_use()) return;
    for (int i = 0; i < cuda::device_count(); ++i) {
        if (!cuda::device(i).in_use()) continue;
        without_gil(i, [](const Device& device) {
            cuda::trim(device);
            return RuntimeError{};
        });
    }
}

}  // namespace

nb::object device_array_of(std::unique_ptr<DeviceAllocation> memory,
                           std::span<const std::int64_t> shape, PyArray_Descr* type) {
    Extents extents;
    extents.sizes.assign(shape.begin(), shape.end());
    auto* owned = new DeviceMemory(std::move(memory));
    nb::object owner = nb::cast(owned, nb::rv_policy::take_ownership);
    return described(owned->pointer(), extents, type, nullptr, NPY_ARRAY_C_CONTIGUOUS,
                     std::move(owner));
}

void bind_device_memory(nb::module_& m) {
    nb::class_<DeviceMemory>(
        m, "DeviceMemory",
        "Memory of a GPU, in the order of a stream; freed after the work of all streams.")
        .def(nb::init<std::size_t, std::uint64_t, int>(), "bytes"_a, "stream"_a = 0,
             "device"_a = -1)
        .def_prop_ro("pointer", &DeviceMemory::pointer)
        .def_prop_ro("device", &DeviceMemory::device);
    nb::class_<PinnedMemory>(m, "PinnedMemory", "Host memory that stays where it is.")
        .def(nb::init<std::size_t, bool>(), "bytes"_a, "mapped"_a = false)
        .def_prop_ro("address", &PinnedMemory::address)
        .def_prop_ro("device_pointer", &PinnedMemory::device_pointer);
    m.def(
        "device_view", device_view, "pointer"_a, "shape"_a, "dtype"_a, "strides"_a.none(),
        "owner"_a.none(),
        "A NumPy array that describes memory of a GPU, or pinned memory, and keeps `owner` alive.");
    m.def("new_device_array", new_device_array, "shape"_a, "dtype"_a, "fortran"_a = false,
          "zeroed"_a = false, "stream"_a = 0, "device"_a = -1,
          "New memory of a GPU, as device_view shows it.");
    m.def("zero_device", zero_device, "pointer"_a, "bytes"_a, "stream"_a, "device"_a = -1,
          "Enqueued.");
    m.def("copy_to_device", copy_to_device, "to"_a, "from_"_a, "bytes"_a, "stream"_a,
          "device"_a = -1, "Enqueued; `from_` is the address of host memory.");
    m.def("copy_to_host", copy_to_host, "to"_a, "from_"_a, "bytes"_a, "stream"_a, "device"_a = -1,
          "Enqueued; `to` is the address of host memory.");
    m.def("copy_on_device", copy_on_device, "to"_a, "from_"_a, "bytes"_a, "stream"_a,
          "device"_a = -1, "Enqueued.");
    m.def(
        "note_stream", note_stream, "stream"_a, "device"_a = -1,
        "Memory is freed after the work that another library has enqueued on this stream so far.");
    m.def("memory_info", memory_info, "device"_a = -1, "Free and total bytes.");
    m.def("empty_device_cache", empty_device_cache,
          "Waits for the GPUs in use and gives memory that was freed back to the system.");
}

}  // namespace parpy
