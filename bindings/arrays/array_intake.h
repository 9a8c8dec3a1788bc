// Reads Python objects as ArgumentViews. take_fast() handles almost every argument and is inlined
// into the call path; take() handles the rest: NumPy scalars and odd layouts, device arrays,
// DLPack, the buffer protocol and the array interfaces. An object that ParPy does not accept gives
// an IntakeFault, no Python exception; the caller adds the argument's name.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "numpy_api.h"
#include "runtime/calls/dispatch.h"

namespace parpy {

namespace dlpack {
struct Tensor;
struct ExchangeApi;
}  // namespace dlpack

// The element type for each NumPy type number; kNoScalar: not supported.
inline constexpr std::uint8_t kNoScalar = 255;
extern const std::array<std::uint8_t, 24> kScalarOfTypeNumber;

// Sets the base class of ParPy's own arrays: their `_view` is a NumPy array on host or device
// memory, depending on `on_gpu`.
void set_device_array_type(PyTypeObject* type);
// Sets the class of parpy.cuda's arrays, of which those without dimensions are arrays, not numbers;
// null until parpy.cuda is imported.
void set_kernel_array_type(PyTypeObject* type);

// Releases both classes, and thereby their modules, at the end of the interpreter.
void release_array_types();

// The reason why an object is no argument. `message` continues "argument 'x' …".
struct IntakeFault {
    std::optional<Code> code;  // empty: a Python exception is set instead
    std::string message;
    std::string help;
};

// Holds the memory of the views of one call, and copies results back after the call.
class Intake {
public:
    Intake() {}  // not defaulted: value-initialisation would clear first_dims_
    ~Intake() {
        if (!held_.empty()) drop_held();
    }
    Intake(const Intake&) = delete;
    Intake& operator=(const Intake&) = delete;

    // False with `fault` filled in if `object` is no argument.
    [[nodiscard]] bool take(PyObject* object, ArgumentView& view, IntakeFault& fault);
    void hold(PyObject* object);  // a new reference, dropped with the Intake

    // Copies elements back to misaligned arrays that were passed as aligned copies, where `writes`
    // holds. False with a Python exception set.
    template <class Writes>
    [[nodiscard]] bool copy_back(const Writes& writes) {
        for (const Copy& copy : copies_) {
            if (writes(copy.view) && PyArray_CopyInto(copy.original, copy.aligned) != 0)
                return false;
        }
        return true;
    }
    [[nodiscard]] bool has_copies() const { return !copies_.empty(); }
    // Two arguments (perhaps the same one) that share memory which their copies do not share,
    // though one of them is in `written` (overlap.h): the first of them was copied.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> torn_apart(
        Arguments arguments, std::uint64_t written) const;

    // The memory that the program stores a number that it returns to.
    struct alignas(16) Result {
        std::uint64_t bits[2];
    };
    std::vector<Result> results;
    // Makes `count` of them, with a view each: one element of the type that is stored.
    void make_results(std::size_t count, ArgumentView* views);

    // The stream of the library of the first device array that names one.
    std::optional<std::uint64_t> stream;
    // Some argument is a CuPy array: CuPy's current stream applies.
    bool has_cupy_arrays = false;

private:
    struct Copy {
        const ArgumentView* view;
        PyArrayObject* original;
        PyArrayObject* aligned;
    };

    void drop_held();
    // The copy of `array` for this call; an array that is passed twice has one copy. nullptr with a
    // Python exception set.
    PyArrayObject* aligned_copy(PyArrayObject* array, const ArgumentView& view);
    bool take_numpy(PyArrayObject* array, ArgumentView& view, IntakeFault& fault);
    bool take_device_array(PyObject* object, ArgumentView& view, IntakeFault& fault);
    bool take_numpy_scalar(PyObject* object, ArgumentView& view, IntakeFault& fault);
    // False if the object has none of the protocols of other libraries; otherwise `taken` is
    // whether it was read.
    bool take_foreign(PyObject* object, ArgumentView& view, IntakeFault& fault, bool& taken);
    bool take_cuda_interface(PyObject* interface, ArgumentView& view, IntakeFault& fault);
    bool take_dlpack(PyObject* object, ArgumentView& view, IntakeFault& fault);
    bool take_exchanged(const dlpack::ExchangeApi& api, PyObject* object, ArgumentView& view,
                        IntakeFault& fault);
    bool take_tensor(const dlpack::Tensor& tensor, bool read_only, ArgumentView& view,
                     IntakeFault& fault);
    bool take_cupy(PyObject* object, ArgumentView& view, IntakeFault& fault);
    bool take_as_array(PyObject* object, bool shares_memory, ArgumentView& view,
                       IntakeFault& fault);
    // Memory for the extents of one array and, kMaxRank further on, its strides.
    std::int64_t* new_dims();

    std::vector<PyObject*> held_;
    std::vector<Copy> copies_;
    using Dims = std::array<std::int64_t, 2 * static_cast<std::size_t>(kMaxRank)>;
    std::array<Dims, 4> first_dims_;  // uninitialised until new_dims() returns them
    std::size_t used_dims_ = 0;
    std::vector<std::unique_ptr<Dims>> more_dims_;
};

// Reads an aligned array of native elements, or a Python float, int or bool. False: call
// Intake::take.
[[nodiscard, gnu::always_inline]] inline bool take_fast(PyObject* object, ArgumentView& view) {
    if (PyArray_CheckExact(object)) {
        auto* array = reinterpret_cast<PyArrayObject*>(object);
        const PyArray_Descr* descr = PyArray_DESCR(array);
        const int rank = PyArray_NDIM(array);
        const auto number = static_cast<unsigned>(descr->type_num);
        const int flags = PyArray_FLAGS(array);
        if (number >= kScalarOfTypeNumber.size() || descr->byteorder == NPY_OPPBYTE || rank == 0 ||
            rank > kMaxRank || (flags & NPY_ARRAY_ALIGNED) == 0) {
            return false;
        }
        const std::uint8_t scalar = kScalarOfTypeNumber[number];
        if (scalar == kNoScalar) return false;
        view.header = ArgumentView::array_header(static_cast<ir::Scalar>(scalar), rank);
        if ((flags & NPY_ARRAY_WRITEABLE) == 0) view.header |= ArgumentView::kReadOnly;
        view.data = PyArray_DATA(array);
        static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
        view.extents = reinterpret_cast<const std::int64_t*>(PyArray_DIMS(array));
        view.strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(array));
        std::int64_t bits = 0;
        for (int d = 0; d < rank; ++d)
            bits |= view.strides[d];
        return (bits & (PyArray_ITEMSIZE(array) - 1)) == 0;
    }
    if (PyFloat_CheckExact(object)) {
        view.header = ArgumentView::scalar_header(ir::Scalar::kF64, true);
        view.value = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(object));
        return true;
    }
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        view.value = static_cast<std::uint64_t>(PyLong_AsLongLongAndOverflow(object, &overflow));
        view.header = ArgumentView::scalar_header(ir::Scalar::kI64, true);
        return overflow == 0;
    }
    if (PyBool_Check(object)) {
        view.header = ArgumentView::scalar_header(ir::Scalar::kBool, true);
        view.value = object == Py_True ? 1 : 0;
        return true;
    }
    return false;
}

}  // namespace parpy
