// Gives parpy.buffer the parts of the core that it needs: GPU memory as a DLPack capsule, and the
// number of its GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays/array_intake.h"
#include "arrays/dlpack.h"
#include "numpy_api.h"
#include "runtime/cuda/device.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

struct Exported {
    dlpack::ManagedTensor managed{};
    std::vector<std::int64_t> shape, strides;
    PyObject* owner = nullptr;
};

void release(dlpack::ManagedTensor* managed) {
    if (Py_IsInitialized() == 0) return;  // another library releases it after the end of Python
    const PyGILState_STATE state = PyGILState_Ensure();
    const std::unique_ptr<Exported> exported(static_cast<Exported*>(managed->context));
    Py_DECREF(exported->owner);
    PyGILState_Release(state);
}

// Runs for a capsule that was not consumed.
void release_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
    release(static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
}

dlpack::DataType dlpack_type(const std::string& name) {
    const auto scalar = ir::scalar_from_name(name);
    if (!scalar) throw nb::type_error("no such element type");
    const dlpack::TypeCode code = *scalar == ir::Scalar::kBool       ? dlpack::kBool
                                  : *scalar == ir::Scalar::kBF16     ? dlpack::kBFloat
                                  : ir::is_float(*scalar)            ? dlpack::kFloat
                                  : ir::is_complex(*scalar)          ? dlpack::kComplex
                                  : ir::is_unsigned_integer(*scalar) ? dlpack::kUInt
                                                                     : dlpack::kInt;
    return {code, static_cast<std::uint8_t>(8 * ir::size_in_bytes(*scalar)), 1};
}

int device_of(std::uint64_t pointer) {
    const cuda::PointerPlace place = cuda::place_of(pointer);
    return place.device >= 0 ? place.device : 0;
}

nb::object dlpack_of_device(nb::handle owner, std::uint64_t pointer,
                            std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                            const std::string& scalar) {
    auto exported = std::make_unique<Exported>();
    exported->shape = std::move(shape);
    exported->strides = std::move(strides);
    dlpack::Tensor& tensor = exported->managed.tensor;
    tensor.data = reinterpret_cast<void*>(pointer);
    tensor.device = {dlpack::kCuda, device_of(pointer)};
    tensor.rank = static_cast<std::int32_t>(exported->shape.size());
    tensor.type = dlpack_type(scalar);
    tensor.shape = exported->shape.data();
    tensor.strides = exported->strides.data();
    exported->managed.context = exported.get();
    exported->managed.deleter = release;
    PyObject* capsule = PyCapsule_New(&exported->managed, "dltensor", release_capsule);
    if (capsule == nullptr) nb::raise_python_error();
    exported->owner = Py_NewRef(owner.ptr());
    (void)exported.release();
    return nb::steal(capsule);
}

}  // namespace

void bind_buffer(nb::module_& m) {
    m.def("dlpack_of_device", dlpack_of_device, "owner"_a, "pointer"_a, "shape"_a, "strides"_a,
          "scalar"_a, "Memory of a GPU as a DLPack capsule that keeps `owner` alive.");
    const auto type_of = [](nb::handle type) {
        if (!PyType_Check(type.ptr())) throw nb::type_error("a type");
        return reinterpret_cast<PyTypeObject*>(type.ptr());
    };
    m.def(
        "set_device_array_type", [=](nb::handle type) { set_device_array_type(type_of(type)); },
        "type"_a, "The type that parpy's arrays derive from, which calls then read directly.");
    m.def(
        "set_kernel_array_type", [=](nb::handle type) { set_kernel_array_type(type_of(type)); },
        "type"_a, "The type of parpy.cuda's arrays.");
    m.def("device_of_pointer", device_of, "pointer"_a, "The GPU that memory is on.");
}

}  // namespace parpy
