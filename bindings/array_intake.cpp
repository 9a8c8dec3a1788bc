// The slow half of reading arguments. See array_intake.h.
#include "array_intake.h"

#include <cstring>

#include "dlpack.h"

namespace parpy {

using ir::Scalar;

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

namespace {

// A reference that is dropped at the end of the scope.
class Owned {
public:
    explicit Owned(PyObject* object) : object_(object) {}
    ~Owned() { Py_XDECREF(object_); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    [[nodiscard]] PyObject* get() const { return object_; }
    [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_;
};

// The attribute, or null without an exception if there is none. Any other exception stays set.
PyObject* optional_attribute(PyObject* object, const char* name) {
    PyObject* found = PyObject_GetAttrString(object, name);
    if (found == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return found;
}

std::string type_name(PyObject* object) {
    return Py_TYPE(object)->tp_name;
}

std::string text_of(PyObject* object) {
    const Owned text(PyObject_Str(object));
    const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (utf8 == nullptr) PyErr_Clear();
    return utf8 != nullptr ? utf8 : "?";
}

constexpr const char* kSupportedTypes =
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 and "
    "complex128";

bool refuse(IntakeFault& fault, Code code, std::string message, std::string help) {
    fault = {code, std::move(message), std::move(help)};
    return false;
}

// The element type of a dtype, or kNoScalar. User-defined bfloat16 (ml_dtypes) goes by its name.
std::uint8_t scalar_of(const PyArray_Descr* descr) {
    const auto number = static_cast<unsigned>(descr->type_num);
    if (number < kScalarOfTypeNumber.size()) return kScalarOfTypeNumber[number];
    const std::string_view name = descr->typeobj->tp_name;
    if (name == "bfloat16" || name.ends_with(".bfloat16")) {
        return static_cast<std::uint8_t>(Scalar::kBF16);
    }
    return kNoScalar;
}

bool refuse_dtype(PyArray_Descr* descr, IntakeFault& fault) {
    const std::string name = text_of(reinterpret_cast<PyObject*>(descr));
    std::string help = std::string("element types are ") + kSupportedTypes;
    switch (descr->type_num) {
        case NPY_OBJECT:
            help = "convert it with x.astype(float), say; " + help;
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
                  "has elements of type '" + name + "', which cannot be compiled for",
                  std::move(help));
}

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

// A scalar from its bytes in memory, as a slot holds it.
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
    if (ir::is_signed_integer(scalar)) {
        const int unused = 64 - 8 * size;
        view.value =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(view.value << unused) >> unused);
    }
}

bool is_masked(PyObject* object) {
    for (PyTypeObject* type = Py_TYPE(object); type != nullptr; type = type->tp_base) {
        if (std::string_view(type->tp_name).ends_with("MaskedArray")) return true;
    }
    return false;
}

}  // namespace

Intake::~Intake() {
    for (PyObject* object : held_)
        Py_DECREF(object);
}

void Intake::hold(PyObject* object) {
    Py_INCREF(object);
    held_.push_back(object);
}

std::int64_t* Intake::new_dims() {
    return dims_.emplace_back(std::make_unique<Dims>())->data();
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

    if (const Owned interface(optional_attribute(object, "__cuda_array_interface__")); interface) {
        return take_cuda_interface(interface.get(), view, fault) &&
               (stream_owner = stream_owner != nullptr ? stream_owner : object, true);
    }
    PyErr_Clear();  // PyTorch raises for tensors without this interface; DLPack may still do
    if (const Owned dlpack(optional_attribute(object, "__dlpack_device__")); dlpack) {
        return take_dlpack(object, view, fault);
    } else if (PyErr_Occurred() != nullptr) {
        return false;
    }
    const bool is_text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (!is_text && PyObject_CheckBuffer(object)) return take_as_array(object, true, view, fault);
    for (const char* name : {"__array_interface__", "__array_struct__", "__array__"}) {
        const Owned found(PyType_Check(object) ? nullptr : optional_attribute(object, name));
        if (found) return take_as_array(object, std::strcmp(name, "__array__") != 0, view, fault);
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
        auto* aligned = reinterpret_cast<PyArrayObject*>(PyArray_NewCopy(array, NPY_CORDER));
        if (aligned == nullptr) {
            fault.code.reset();
            return false;
        }
        held_.push_back(reinterpret_cast<PyObject*>(aligned));
        copies_.push_back({&view, array, aligned});
        source = aligned;
    }
    view.header = ArgumentView::array_header(scalar, rank);
    if (!PyArray_ISWRITEABLE(array)) view.header |= ArgumentView::kReadOnly;
    view.data = PyArray_DATA(source);
    view.extents = reinterpret_cast<const std::int64_t*>(PyArray_DIMS(source));
    view.strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(source));
    return true;
}

bool Intake::take_numpy_scalar(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    const Owned descr(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(object)));
    if (!descr) return false;
    auto* type = reinterpret_cast<PyArray_Descr*>(descr.get());
    if (!check_dtype(type, fault)) return false;
    alignas(16) char bytes[16] = {};
    PyArray_ScalarAsCtype(object, bytes);
    read_scalar(bytes, static_cast<Scalar>(scalar_of(type)), view);
    return true;
}

// What asarray sees through the buffer protocol or an array interface. Of `__array__` alone nobody
// knows whether it shares memory, so such an argument is read-only.
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
    held_.push_back(array.release());
    if (!take_numpy(made, view, fault)) return false;
    if (view.is_array() && !shares_memory) view.header |= ArgumentView::kReadOnly;
    return true;
}

// ---------------------------------------------------------------- __cuda_array_interface__

namespace {

// "<f4" and the like. kNoScalar if it is none of ours; `native` false if its byte order is not
// ours.
std::uint8_t scalar_of_typestr(std::string_view text, bool& native) {
    native = true;
    if (text.size() < 3) return kNoScalar;
    native = text[0] != '>';
    int size = 0;
    for (const char digit : text.substr(2)) {
        if (digit < '0' || digit > '9') return kNoScalar;
        size = 10 * size + (digit - '0');
        if (size > 99) return kNoScalar;
    }
    const std::string_view prefix = text[1] == 'i'   ? "i"
                                    : text[1] == 'u' ? "u"
                                    : text[1] == 'f' ? "f"
                                    : text[1] == 'c' ? "c"
                                                     : "";
    if (text[1] == 'b' && size == 1) return static_cast<std::uint8_t>(Scalar::kBool);
    if (prefix.empty()) return kNoScalar;
    const auto scalar = ir::scalar_from_name(std::string(prefix) + std::to_string(8 * size));
    return scalar ? static_cast<std::uint8_t>(*scalar) : kNoScalar;
}

bool read_integers(PyObject* tuple, std::int64_t* out) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred() != nullptr) return false;
    }
    return true;
}

void contiguous_strides(int rank, std::int64_t size, const std::int64_t* extents,
                        std::int64_t* strides) {
    for (int d = rank - 1; d >= 0; --d) {
        strides[d] = size;
        size *= extents[d];
    }
}

}  // namespace

bool Intake::take_cuda_interface(PyObject* interface, ArgumentView& view, IntakeFault& fault) {
    const auto malformed = [&] {
        return refuse(fault, Code::kP555, "has a malformed __cuda_array_interface__",
                      "it must be a dict with 'shape', 'typestr', 'data' and 'version'");
    };
    if (!PyDict_Check(interface)) return malformed();
    PyObject* shape = PyDict_GetItemString(interface, "shape");
    PyObject* typestr = PyDict_GetItemString(interface, "typestr");
    PyObject* data = PyDict_GetItemString(interface, "data");
    PyObject* strides = PyDict_GetItemString(interface, "strides");
    PyObject* mask = PyDict_GetItemString(interface, "mask");
    PyObject* on_stream = PyDict_GetItemString(interface, "stream");
    if (shape == nullptr || !PyTuple_Check(shape) || typestr == nullptr ||
        !PyUnicode_Check(typestr) || data == nullptr || !PyTuple_Check(data) ||
        PyTuple_GET_SIZE(data) != 2) {
        return malformed();
    }
    if (mask != nullptr && mask != Py_None) {
        return refuse(fault, Code::kP550, "is a masked device array",
                      "pass data and mask as two arguments");
    }
    bool native = true;
    const char* text = PyUnicode_AsUTF8(typestr);
    if (text == nullptr) return false;
    const std::uint8_t scalar = scalar_of_typestr(text, native);
    if (scalar == kNoScalar) {
        return refuse(
            fault, Code::kP551,
            "has elements of type '" + std::string(text) + "', which cannot be compiled for",
            std::string("element types are ") + kSupportedTypes);
    }
    if (!native) {
        return refuse(fault, Code::kP552,
                      "has elements of type '" + std::string(text) +
                          "', whose byte order is not this machine's",
                      "convert it once to native order");
    }
    const auto rank = static_cast<int>(PyTuple_GET_SIZE(shape));
    if (!check_rank(rank, fault)) return false;
    const std::int64_t size = ir::size_in_bytes(static_cast<Scalar>(scalar));
    std::int64_t* extents = new_dims();
    std::int64_t* byte_strides = extents + kMaxRank;
    if (!read_integers(shape, extents)) return false;
    if (strides != nullptr && strides != Py_None) {
        if (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != rank) return malformed();
        if (!read_integers(strides, byte_strides)) return false;
        for (int d = 0; d < rank; ++d) {
            if (byte_strides[d] % size != 0) {
                return refuse(
                    fault, Code::kP556,
                    "is a device array whose strides are no multiples of its element size",
                    "pass a contiguous copy");
            }
        }
    } else {
        contiguous_strides(rank, size, extents, byte_strides);
    }
    view.data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    if (view.data == nullptr && PyErr_Occurred() != nullptr) return false;
    const int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (read_only < 0) return false;
    view.header =
        ArgumentView::array_header(static_cast<Scalar>(scalar), rank) | ArgumentView::kOnDevice;
    if (read_only != 0) view.header |= ArgumentView::kReadOnly;
    view.extents = extents;
    view.strides = byte_strides;
    if (!stream && on_stream != nullptr && PyLong_Check(on_stream)) {
        stream = PyLong_AsUnsignedLongLongMask(on_stream);
    }
    return true;
}

// ---------------------------------------------------------------- DLPack

namespace {

std::uint8_t scalar_of(dlpack::DataType type) {
    if (type.lanes != 1) return kNoScalar;
    const char* prefix = nullptr;
    switch (type.code) {
        case dlpack::kInt:
            prefix = "i";
            break;
        case dlpack::kUInt:
            prefix = "u";
            break;
        case dlpack::kFloat:
            prefix = "f";
            break;
        case dlpack::kBFloat:
            prefix = "bf";
            break;
        case dlpack::kComplex:
            prefix = "c";
            break;
        case dlpack::kBool:
            return static_cast<std::uint8_t>(Scalar::kBool);
        default:
            return kNoScalar;
    }
    const auto scalar = ir::scalar_from_name(prefix + std::to_string(type.bits));
    return scalar ? static_cast<std::uint8_t>(*scalar) : kNoScalar;
}

// object.__dlpack__(stream=-1 on a device, max_version=(1, 0)), with fewer keywords for older
// exporters.
PyObject* call_dlpack(PyObject* object, bool on_device) {
    const Owned method(PyObject_GetAttrString(object, "__dlpack__"));
    if (!method) return nullptr;
    const Owned no_arguments(PyTuple_New(0));
    for (const bool versioned : {true, false}) {
        for (const bool with_stream : {true, false}) {
            if (with_stream && !on_device) continue;
            PyErr_Clear();
            const Owned keywords(PyDict_New());
            if (versioned) {
                const Owned version(Py_BuildValue("(ii)", 1, 0));
                PyDict_SetItemString(keywords.get(), "max_version", version.get());
            }
            if (with_stream) {
                const Owned none(PyLong_FromLong(-1));
                PyDict_SetItemString(keywords.get(), "stream", none.get());
            }
            PyObject* capsule = PyObject_Call(method.get(), no_arguments.get(), keywords.get());
            if (capsule != nullptr) return capsule;
            const bool older = PyErr_ExceptionMatches(PyExc_TypeError) ||
                               (with_stream && PyErr_ExceptionMatches(PyExc_ValueError));
            if (!older) return nullptr;
        }
    }
    return nullptr;
}

}  // namespace

bool Intake::take_dlpack(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    const Owned device(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
    if (!device) return false;
    int device_type = 0;
    int device_id = 0;
    if (!PyArg_ParseTuple(device.get(), "ii", &device_type, &device_id)) return false;
    const bool on_device = device_type == dlpack::kCuda;
    if (!on_device && device_type != dlpack::kCpu && device_type != dlpack::kCudaHost &&
        device_type != dlpack::kCudaManaged) {
        return refuse(fault, Code::kP556, "lies on a device that ParPy does not reach",
                      "move it to the host or to a CUDA device");
    }
    Owned capsule(call_dlpack(object, on_device));
    if (!capsule) return false;
    bool read_only = false;
    const dlpack::Tensor* tensor = nullptr;
    if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned") != 0) {
        auto* managed = static_cast<dlpack::ManagedTensorVersioned*>(
            PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
        read_only = (managed->flags & (dlpack::ManagedTensorVersioned::kReadOnly |
                                       dlpack::ManagedTensorVersioned::kCopied)) != 0;
        tensor = &managed->tensor;
    } else {
        auto* managed =
            static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
        if (managed == nullptr) return false;
        tensor = &managed->tensor;
    }
    // The capsule stays unconsumed: dropping it after the call releases the tensor.
    held_.push_back(capsule.release());
    const std::uint8_t scalar = scalar_of(tensor->type);
    if (scalar == kNoScalar) {
        return refuse(fault, Code::kP551,
                      "has elements (DLPack code " + std::to_string(tensor->type.code) + ", " +
                          std::to_string(tensor->type.bits) + " bits) that cannot be compiled for",
                      std::string("element types are ") + kSupportedTypes);
    }
    if (!check_rank(tensor->rank, fault)) return false;
    const auto element = static_cast<Scalar>(scalar);
    const std::int64_t size = ir::size_in_bytes(element);
    void* data = static_cast<char*>(tensor->data) + tensor->byte_offset;
    if (tensor->rank == 0 && !on_device) {
        read_scalar(data, element, view);
        return true;
    }
    std::int64_t* extents = new_dims();
    std::int64_t* strides = extents + kMaxRank;
    for (int d = 0; d < tensor->rank; ++d)
        extents[d] = tensor->shape[d];
    if (tensor->strides != nullptr) {
        for (int d = 0; d < tensor->rank; ++d)
            strides[d] = tensor->strides[d] * size;
    } else {
        contiguous_strides(tensor->rank, size, extents, strides);
    }
    view.header = ArgumentView::array_header(element, tensor->rank);
    if (read_only) view.header |= ArgumentView::kReadOnly;
    if (on_device) {
        view.header |= ArgumentView::kOnDevice | static_cast<std::uint64_t>(device_id & 255)
                                                     << ArgumentView::kDeviceShift;
        if (stream_owner == nullptr) stream_owner = object;
    }
    view.data = data;
    view.extents = extents;
    view.strides = strides;
    return true;
}

}  // namespace parpy
