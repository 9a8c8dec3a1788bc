// The slow half of reading arguments. See array_intake.h.
#include "arrays/array_intake.h"

#include <algorithm>
#include <cstring>

#include "arrays/intake_detail.h"

namespace parpy {

using ir::Scalar;
using namespace intake;

const std::array<std::uint8_t, 24> kScalarOfTypeNumber = [] {
    std::array<std::uint8_t, 24> table;
    table.fill(kNoScalar);
    const auto set = [&](int number, Scalar scalar) {
        table[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(scalar);
    };
    const auto signed_of = [](std::size_t size) {
        return size == 1   ? Scalar::kI8
               : size == 2 ? Scalar::kI16
               : size == 4 ? Scalar::kI32
                           : Scalar::kI64;
    };
    const auto unsigned_of = [](std::size_t size) {
        return size == 1   ? Scalar::kU8
               : size == 2 ? Scalar::kU16
               : size == 4 ? Scalar::kU32
                           : Scalar::kU64;
    };
    set(NPY_BOOL, Scalar::kBool);
    set(NPY_BYTE, signed_of(1));
    set(NPY_UBYTE, unsigned_of(1));
    set(NPY_SHORT, signed_of(sizeof(short)));
    set(NPY_USHORT, unsigned_of(sizeof(short)));
    set(NPY_INT, signed_of(sizeof(int)));
    set(NPY_UINT, unsigned_of(sizeof(int)));
    set(NPY_LONG, signed_of(sizeof(long)));
    set(NPY_ULONG, unsigned_of(sizeof(long)));
    set(NPY_LONGLONG, signed_of(sizeof(long long)));
    set(NPY_ULONGLONG, unsigned_of(sizeof(long long)));
    set(NPY_HALF, Scalar::kF16);
    set(NPY_FLOAT, Scalar::kF32);
    set(NPY_DOUBLE, Scalar::kF64);
    set(NPY_CFLOAT, Scalar::kC64);
    set(NPY_CDOUBLE, Scalar::kC128);
    return table;
}();

void Intake::make_results(std::size_t count, ArgumentView* views) {
    static constexpr std::int64_t kExtent = 1;
    static constexpr std::int64_t kStride = sizeof(Result);
    results.assign(count, {});
    for (Result& result : results) {
        views->header = ArgumentView::array_header(Scalar::kC128, 1) | ArgumentView::kWeak;
        views->data = &result;
        views->extents = &kExtent;
        views->strides = &kStride;
        ++views;
    }
}

namespace {

PyTypeObject* device_array_type = nullptr;  // never released, nor the names of its attributes
PyTypeObject* kernel_array_type = nullptr;
PyObject* name_of_view = nullptr;
PyObject* name_of_on_gpu = nullptr;

std::string type_name(PyObject* object) {
    return Py_TYPE(object)->tp_name;
}

std::string text_of(PyObject* object) {
    const Owned text(PyObject_Str(object));
    const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (utf8 == nullptr) PyErr_Clear();
    return utf8 != nullptr ? utf8 : "?";
}

// Returns the text of the exception that is set, and clears it.
std::string text_of_error() {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    const Owned held_type(type), held_error(error), held_trace(trace);
    return held_error ? text_of(held_error.get()) : "?";
}

bool is_masked(PyObject* object) {
    for (PyTypeObject* type = Py_TYPE(object); type != nullptr; type = type->tp_base) {
        if (std::string_view(type->tp_name).ends_with("MaskedArray")) return true;
    }
    return false;
}

}  // namespace

namespace intake {

PyObject* optional_attribute(PyObject* object, const char* name) {
    PyObject* found = PyObject_GetAttrString(object, name);
    if (found == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return found;
}

bool refuse(IntakeFault& fault, Code code, std::string message, std::string help) {
    fault = {code, std::move(message), std::move(help)};
    return false;
}

bool refuse_device_scalar(IntakeFault& fault) {
    return refuse(fault, Code::kP556, "is a device array without dimensions",
                  "pass its value, x.item(), or an array of one element, x.reshape(1)");
}

bool refuse_elements(IntakeFault& fault, const std::string& described) {
    return refuse(fault, Code::kP551, described + " that cannot be compiled",
                  std::string("element types are ") + kSupportedTypes);
}

// A user-defined bfloat16 (ml_dtypes) is recognised by its name.
std::uint8_t scalar_of(const PyArray_Descr* descr) {
    const auto number = static_cast<unsigned>(descr->type_num);
    if (number < kScalarOfTypeNumber.size()) return kScalarOfTypeNumber[number];
    const std::string_view name = descr->typeobj->tp_name;
    if (name == "bfloat16" || name.ends_with(".bfloat16")) {
        return static_cast<std::uint8_t>(Scalar::kBF16);
    }
    return kNoScalar;
}

namespace {

bool refuse_dtype(PyArray_Descr* descr, IntakeFault& fault) {
    const std::string name = text_of(reinterpret_cast<PyObject*>(descr));
    std::string help = std::string("element types are ") + kSupportedTypes;
    switch (descr->type_num) {
        case NPY_OBJECT:
            help = "convert it, for example with x.astype(float); " + help;
            break;
        case NPY_VOID:
            help = "pass the fields one by one, as x['field']; " + help;
            break;
        case NPY_DATETIME:
        case NPY_TIMEDELTA:
            help = "pass x.view('i8'); " + help;
            break;
        case NPY_LONGDOUBLE:
            help = "convert it with x.astype('f8'); " + help;
            break;
        default:
            break;
    }
    return refuse(fault, Code::kP551,
                  "has elements of type '" + name + "', which cannot be compiled", std::move(help));
}

}  // namespace

bool check_dtype(PyArray_Descr* descr, IntakeFault& fault) {
    if (scalar_of(descr) == kNoScalar) return refuse_dtype(descr, fault);
    if (PyArray_ISNBO(descr->byteorder)) return true;
    return refuse(fault, Code::kP552,
                  "has elements of type '" + text_of(reinterpret_cast<PyObject*>(descr)) +
                      "', whose byte order is not this machine's",
                  "convert it once with x.astype(x.dtype.newbyteorder('='))");
}

bool check_rank(int rank, IntakeFault& fault) {
    if (rank <= kMaxRank) return true;
    return refuse(fault, Code::kP554, "has " + std::to_string(rank) + " dimensions",
                  "arrays may have up to " + std::to_string(kMaxRank) + " dimensions");
}

void read_scalar(const void* bytes, Scalar scalar, ArgumentView& view) {
    view.header = ArgumentView::scalar_header(scalar, false);
    view.value = view.imaginary = 0;
    const int size = ir::size_in_bytes(scalar);
    if (size == 16) {
        std::memcpy(&view.value, bytes, 8);
        std::memcpy(&view.imaginary, static_cast<const char*>(bytes) + 8, 8);
        return;
    }
    std::memcpy(&view.value, bytes, static_cast<std::size_t>(size));  // little-endian
    if (scalar == Scalar::kBool) view.value = view.value != 0 ? 1 : 0;
    if (ir::is_signed_integer(scalar)) {
        const int unused = 64 - 8 * size;
        view.value =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(view.value << unused) >> unused);
    }
}

}  // namespace intake

void Intake::drop_held() {
    for (PyObject* object : held_)
        Py_DECREF(object);
}

void Intake::hold(PyObject* object) {
    Py_INCREF(object);
    held_.push_back(object);
}

std::int64_t* Intake::new_dims() {
    if (used_dims_ < first_dims_.size()) return first_dims_[used_dims_++].data();
    return more_dims_.emplace_back(std::make_unique<Dims>())->data();
}

void set_device_array_type(PyTypeObject* type) {
    Py_INCREF(type);
    name_of_view = PyUnicode_InternFromString("_view");
    name_of_on_gpu = PyUnicode_InternFromString("on_gpu");
    device_array_type = type;
}

void release_array_types() {
    Py_CLEAR(device_array_type);
    Py_CLEAR(kernel_array_type);
}

void set_kernel_array_type(PyTypeObject* type) {
    Py_INCREF(type);
    kernel_array_type = type;
}

bool Intake::take_device_array(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    fault.code.reset();  // failures here are Python exceptions
    const Owned array(PyObject_GetAttr(object, name_of_view));
    const Owned on_gpu(PyObject_GetAttr(object, name_of_on_gpu));
    if (!array || !on_gpu) return false;
    hold(array.get());
    auto* elements = reinterpret_cast<PyArrayObject*>(array.get());
    const int rank = PyArray_NDIM(elements);
    const bool there = on_gpu.get() == Py_True;
    const bool is_cell = rank == 0 && PyObject_TypeCheck(object, kernel_array_type);
    if (rank == 0 && there && !is_cell) return refuse_device_scalar(fault);
    if (is_cell && PyArray_ISALIGNED(elements)) {  // such a cell is an array: kernels may write it
        PyArray_Descr* descr = PyArray_DESCR(elements);
        if (!check_dtype(descr, fault)) return false;
        view.header = ArgumentView::array_header(static_cast<Scalar>(scalar_of(descr)), 0);
        if (there) view.header |= ArgumentView::kOnDevice;
        view.data = PyArray_DATA(elements);
        view.extents = view.strides = new_dims();
        return true;
    }
    if (!there) return take_numpy(elements, view, fault);
    // The elements must not be read here.
    bool whole = PyArray_ISALIGNED(elements);
    for (int d = 0; d < rank; ++d)
        whole = whole && PyArray_STRIDES(elements)[d] % PyArray_ITEMSIZE(elements) == 0;
    if (!whole) {
        return refuse(fault, Code::kP556, "is a device array whose elements are not aligned",
                      "make records with np.dtype(…, align=True) and fields of one size");
    }
    if (!take_numpy(elements, view, fault)) return false;
    view.header |= ArgumentView::kOnDevice;
    return true;
}

bool Intake::take(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    if (take_fast(object, view)) return true;
    if (PyArray_Check(object)) {
        if (is_masked(object)) {
            return refuse(fault, Code::kP550, "is a masked array",
                          "pass x.filled(value), or x.data and x.mask as two arguments");
        }
        return take_numpy(reinterpret_cast<PyArrayObject*>(object), view, fault);
    }
    if (device_array_type != nullptr && PyObject_TypeCheck(object, device_array_type))
        return take_device_array(object, view, fault);
    if (PyArray_IsScalar(object, Generic)) return take_numpy_scalar(object, view, fault);
    if (PyFloat_Check(object)) {
        view.header = ArgumentView::scalar_header(Scalar::kF64, true);
        view.value = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(object));
        return true;
    }
    if (PyLong_Check(object)) {
        int overflow = 0;
        view.value = static_cast<std::uint64_t>(PyLong_AsLongLongAndOverflow(object, &overflow));
        view.header = ArgumentView::scalar_header(Scalar::kI64, true);
        if (overflow == 0) return true;
        return refuse(
            fault, Code::kP553, "is an int that does not fit 64 bits: " + text_of(object),
            "Python integers are 64-bit in compiled code; pass np.uint64(x) for values up to "
            "2**64 - 1, or a float");
    }
    if (PyComplex_Check(object)) {
        const Py_complex number = PyComplex_AsCComplex(object);
        view.header = ArgumentView::scalar_header(Scalar::kC128, true);
        view.value = std::bit_cast<std::uint64_t>(number.real);
        view.imaginary = std::bit_cast<std::uint64_t>(number.imag);
        return true;
    }

    if (bool taken = false; take_foreign(object, view, fault, taken)) return taken;
    const bool is_text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (!is_text && PyObject_CheckBuffer(object)) return take_as_array(object, true, view, fault);
    for (const char* name : {"__array_interface__", "__array_struct__", "__array__"}) {
        const Owned found(PyType_Check(object) ? nullptr : optional_attribute(object, name));
        if (found) {
            if (take_as_array(object, std::strcmp(name, "__array__") != 0, view, fault))
                return true;
            const bool malformed = std::strcmp(name, "__array_interface__") == 0 &&
                                   PyErr_Occurred() != nullptr &&
                                   (PyErr_ExceptionMatches(PyExc_ValueError) != 0 ||
                                    PyErr_ExceptionMatches(PyExc_TypeError) != 0);
            if (!malformed) return false;
            return refuse(fault, Code::kP555,
                          "has a malformed __array_interface__: " + text_of_error(), "");
        }
        if (PyErr_Occurred() != nullptr) return false;
    }
    std::string help =
        "pass a NumPy array, a number, or an object with DLPack or an array interface";
    if (PyList_Check(object) || PyTuple_Check(object)) {
        help = "pass an array made from it, np.array(x): compiled code works on arrays in place";
    } else if (PyDict_Check(object)) {
        help =
            "a dict argument is used as d['key'] in the function, and its values are arrays and "
            "numbers";
    }
    return refuse(fault, Code::kP550,
                  "is " + (object == Py_None ? "None" : "of type '" + type_name(object) + "'") +
                      ", which cannot be passed to compiled code",
                  std::move(help));
}

bool Intake::take_numpy(PyArrayObject* array, ArgumentView& view, IntakeFault& fault) {
    PyArray_Descr* descr = PyArray_DESCR(array);
    const int rank = PyArray_NDIM(array);
    if (!check_dtype(descr, fault) || !check_rank(rank, fault)) return false;
    const auto scalar = static_cast<Scalar>(scalar_of(descr));
    if (rank == 0) {
        read_scalar(PyArray_DATA(array), scalar, view);
        return true;
    }
    const auto* strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(array));
    std::int64_t bits = 0;
    for (int d = 0; d < rank; ++d)
        bits |= strides[d];
    const std::int64_t size = ir::size_in_bytes(scalar);
    PyArrayObject* source = array;
    if (!PyArray_ISALIGNED(array) || (bits & (size - 1)) != 0) {
        source = aligned_copy(array, view);
        if (source == nullptr) {
            fault.code.reset();
            return false;
        }
    }
    view.header = ArgumentView::array_header(scalar, rank);
    if (!PyArray_ISWRITEABLE(array)) view.header |= ArgumentView::kReadOnly;
    view.data = PyArray_DATA(source);
    view.extents = reinterpret_cast<const std::int64_t*>(PyArray_DIMS(source));
    view.strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(source));
    return true;
}

namespace {

bool same_elements(PyArrayObject* a, PyArrayObject* b) {
    const int rank = PyArray_NDIM(a);
    return PyArray_DATA(a) == PyArray_DATA(b) && rank == PyArray_NDIM(b) &&
           PyArray_TYPE(a) == PyArray_TYPE(b) &&
           std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + rank, PyArray_DIMS(b)) &&
           std::equal(PyArray_STRIDES(a), PyArray_STRIDES(a) + rank, PyArray_STRIDES(b));
}

}  // namespace

PyArrayObject* Intake::aligned_copy(PyArrayObject* array, const ArgumentView& view) {
    for (const Copy& copy : copies_) {
        if (same_elements(copy.original, array)) {
            PyArrayObject* shared = copy.aligned;
            copies_.push_back({&view, array, shared});
            return shared;
        }
    }
    auto* aligned = reinterpret_cast<PyArrayObject*>(PyArray_NewCopy(array, NPY_CORDER));
    if (aligned == nullptr) return nullptr;
    held_.push_back(reinterpret_cast<PyObject*>(aligned));
    copies_.push_back({&view, array, aligned});
    return aligned;
}

std::optional<std::pair<std::size_t, std::size_t>> Intake::torn_apart(Arguments arguments,
                                                                      std::uint64_t written) const {
    std::vector<ArgumentView> originals(arguments.begin(), arguments.end());
    std::vector<std::size_t> copied;
    for (const Copy& copy : copies_) {
        const auto index = static_cast<std::size_t>(copy.view - arguments.data());
        originals[index].data = PyArray_DATA(copy.original);
        originals[index].strides =
            reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(copy.original));
        copied.push_back(index);
    }
    const auto stored = [&](std::size_t i) { return (written & argument_bit(i)) != 0; };
    for (const std::size_t i : copied) {
        if (stored(i) && overlaps_itself(originals[i])) return std::pair(i, i);
        for (std::size_t j = 0; j < originals.size(); ++j) {
            const ArgumentView &a = originals[i], &b = originals[j];
            if (j == i || !b.is_array() || b.on_device() || !(stored(i) || stored(j))) continue;
            const bool shared = arguments[i].data == arguments[j].data;
            const bool meet = !shared && intersect(a, byte_range(a), b, byte_range(b));
            if (meet && !interleaved(a, b)) return std::pair(i, j);
        }
    }
    return std::nullopt;
}

bool Intake::take_numpy_scalar(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    const Owned descr(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(object)));
    if (!descr) return false;
    auto* type = reinterpret_cast<PyArray_Descr*>(descr.get());
    if (!check_dtype(type, fault)) return false;
    const auto scalar = static_cast<Scalar>(scalar_of(type));
    if (PyTypeNum_ISUSERDEF(type->type_num)) {  // ScalarAsCtype gives the address of such a scalar
        const Owned array(PyArray_FromScalar(object, nullptr));
        if (!array) return false;
        read_scalar(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.get())), scalar, view);
        return true;
    }
    alignas(16) char bytes[16] = {};
    PyArray_ScalarAsCtype(object, bytes);
    read_scalar(bytes, scalar, view);
    return true;
}

namespace {

// Whether there is another reference to the memory of an array just received; nothing if that
// cannot be determined.
std::optional<bool> is_held(PyObject* owner) {
    while (PyArray_Check(owner)) {
        if (Py_REFCNT(owner) > 1) return true;
        PyObject* base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(owner));
        if (base == nullptr) return false;
        owner = base;
    }
    return Py_REFCNT(owner) > 1 ? std::optional(true) : std::nullopt;
}

}  // namespace

// Takes an object with the buffer protocol or an array interface through asarray. An argument whose
// `__array__` makes a copy is read-only.
bool Intake::take_as_array(PyObject* object, bool shares_memory, ArgumentView& view,
                           IntakeFault& fault) {
    Owned array(PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr));
    if (!array) return false;
    if (!PyArray_Check(array.get())) {
        return refuse(fault, Code::kP550,
                      "of type '" + type_name(object) + "' does not convert to an array",
                      "pass a NumPy array");
    }
    auto* made = reinterpret_cast<PyArrayObject*>(array.get());
    const std::optional<bool> kept = is_held(array.get());
    held_.push_back(array.release());
    if (!take_numpy(made, view, fault)) return false;
    if (!view.is_array() || shares_memory) return true;
    bool own = kept.value_or(false);
    if (!kept) {  // memory that it returns twice while in use is its own
        const Owned again(PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr));
        if (!again) return false;
        own = PyArray_Check(again.get()) &&
              PyArray_DATA(reinterpret_cast<PyArrayObject*>(again.get())) == PyArray_DATA(made);
    }
    if (!own) view.header |= ArgumentView::kReadOnly;
    return true;
}

}  // namespace parpy
