// Reads arrays of other libraries: the C exchange API of DLPack (PyTorch), the fields of CuPy's
// arrays, __cuda_array_interface__, and __dlpack__ in both its forms. The protocol of a type is
// determined once per type.
#include <array>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "arrays/dlpack.h"
#include "arrays/intake_detail.h"
#include "runtime/cuda/device.h"

namespace parpy {

using ir::Scalar;
using namespace intake;

namespace {

bool refuse_strides(IntakeFault& fault) {
    return refuse(fault, Code::kP556,
                  "is a device array whose strides are not multiples of its element size",
                  "pass a contiguous copy");
}

// Parses "<f4" and the like. kNoScalar if the type is not supported; `native` is false if the byte
// order is not the machine's.
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

bool has_whole_strides(int rank, std::int64_t size, const std::int64_t* strides) {
    for (int d = 0; d < rank; ++d) {
        if (strides[d] % size != 0) return false;
    }
    return true;
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
        return refuse_elements(fault, "has elements of type '" + std::string(text) + "'");
    }
    if (!native) {
        return refuse(fault, Code::kP552,
                      "has elements of type '" + std::string(text) +
                          "', whose byte order is not this machine's",
                      "convert it once to native order");
    }
    const auto rank = static_cast<int>(PyTuple_GET_SIZE(shape));
    if (!check_rank(rank, fault)) return false;
    if (rank == 0) return refuse_device_scalar(fault);
    const std::int64_t size = ir::size_in_bytes(static_cast<Scalar>(scalar));
    std::int64_t* extents = new_dims();
    std::int64_t* byte_strides = extents + kMaxRank;
    if (!read_integers(shape, extents)) return false;
    if (strides != nullptr && strides != Py_None) {
        if (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != rank) return malformed();
        if (!read_integers(strides, byte_strides)) return false;
        if (!has_whole_strides(rank, size, byte_strides)) return refuse_strides(fault);
    } else {
        contiguous_strides(rank, size, extents, byte_strides);
    }
    view.data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    if (view.data == nullptr && PyErr_Occurred() != nullptr) return false;
    const int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (read_only < 0) return false;
    view.header = ArgumentView::array_header(static_cast<Scalar>(scalar), rank);
    // An array of the simulator is in host memory.
    if (PyDict_GetItemString(interface, "simulated") == nullptr)
        view.header |= ArgumentView::kOnDevice;
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

std::uint8_t of_size(unsigned bits, std::array<std::uint8_t, 5> by_log2) {
    switch (bits) {
        case 8:
            return by_log2[0];
        case 16:
            return by_log2[1];
        case 32:
            return by_log2[2];
        case 64:
            return by_log2[3];
        case 128:
            return by_log2[4];
        default:
            return kNoScalar;
    }
}

std::uint8_t scalar_of(dlpack::DataType type) {
    constexpr auto no = kNoScalar;
    const auto at = [](Scalar scalar) { return static_cast<std::uint8_t>(scalar); };
    if (type.lanes != 1) return no;
    switch (type.code) {
        case dlpack::kInt:
            return of_size(type.bits, {at(Scalar::kI8), at(Scalar::kI16), at(Scalar::kI32),
                                       at(Scalar::kI64), no});
        case dlpack::kUInt:
            return of_size(type.bits, {at(Scalar::kU8), at(Scalar::kU16), at(Scalar::kU32),
                                       at(Scalar::kU64), no});
        case dlpack::kFloat:
            return of_size(type.bits,
                           {no, at(Scalar::kF16), at(Scalar::kF32), at(Scalar::kF64), no});
        case dlpack::kBFloat:
            return of_size(type.bits, {no, at(Scalar::kBF16), no, no, no});
        case dlpack::kComplex:
            return of_size(type.bits, {no, no, no, at(Scalar::kC64), at(Scalar::kC128)});
        case dlpack::kBool:
            return of_size(type.bits, {at(Scalar::kBool), no, no, no, no});
        default:
            return no;
    }
}

// Calls object.__dlpack__(stream=-1 on a device, max_version=(1, 0)), with fewer keywords for older
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

// The memory of the tensor must outlive the call.
bool Intake::take_tensor(const dlpack::Tensor& tensor, bool read_only, ArgumentView& view,
                         IntakeFault& fault) {
    const bool on_device = tensor.device.type == dlpack::kCuda;
    if (!on_device && tensor.device.type != dlpack::kCpu &&
        tensor.device.type != dlpack::kCudaHost && tensor.device.type != dlpack::kCudaManaged) {
        return refuse(fault, Code::kP556, "lies on a device that ParPy does not reach",
                      "move it to the host or to a CUDA device");
    }
    const std::uint8_t scalar = scalar_of(tensor.type);
    if (scalar == kNoScalar) {
        return refuse_elements(fault, "has elements (DLPack code " +
                                          std::to_string(tensor.type.code) + ", " +
                                          std::to_string(tensor.type.bits) + " bits)");
    }
    if (!check_rank(tensor.rank, fault)) return false;
    const auto element = static_cast<Scalar>(scalar);
    void* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    if (tensor.rank == 0) {
        if (on_device) return refuse_device_scalar(fault);
        read_scalar(data, element, view);
        return true;
    }
    const std::int64_t size = ir::size_in_bytes(element);
    std::int64_t* extents = new_dims();
    std::int64_t* strides = extents + kMaxRank;
    for (int d = 0; d < tensor.rank; ++d)
        extents[d] = tensor.shape[d];
    if (tensor.strides != nullptr) {
        for (int d = 0; d < tensor.rank; ++d)
            strides[d] = tensor.strides[d] * size;
    } else {
        contiguous_strides(tensor.rank, size, extents, strides);
    }
    view.header = ArgumentView::array_header(element, tensor.rank);
    if (read_only) view.header |= ArgumentView::kReadOnly;
    if (on_device) {
        view.header |= ArgumentView::kOnDevice | static_cast<std::uint64_t>(tensor.device.id & 255)
                                                     << ArgumentView::kDeviceShift;
    }
    view.data = data;
    view.extents = extents;
    view.strides = strides;
    return true;
}

// Whether it is an array of JAX, which is immutable. Its capsules have no flag for that.
static bool is_of_jax(PyObject* object) {
    const Owned module(
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__module__"));
    const char* name =
        module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
    if (name == nullptr) PyErr_Clear();
    return name != nullptr && std::string_view(name).starts_with("jaxlib");
}

bool Intake::take_dlpack(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    const Owned device(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
    if (!device) return false;
    int device_type = 0;
    int device_id = 0;
    if (!PyTuple_Check(device.get()) ||
        !PyArg_ParseTuple(device.get(), "ii", &device_type, &device_id)) {
        PyErr_Clear();
        return refuse(fault, Code::kP555, "has a malformed __dlpack_device__",
                      "it must return a tuple of two integers");
    }
    Owned capsule(call_dlpack(object, device_type == dlpack::kCuda));
    if (!capsule) return false;
    bool read_only = is_of_jax(object);
    const dlpack::Tensor* tensor = nullptr;
    if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned") != 0) {
        auto* managed = static_cast<dlpack::ManagedTensorVersioned*>(
            PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
        read_only |= (managed->flags & (dlpack::ManagedTensorVersioned::kReadOnly |
                                        dlpack::ManagedTensorVersioned::kCopied)) != 0;
        tensor = &managed->tensor;
    } else {
        auto* managed =
            static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
        if (managed == nullptr) return false;
        tensor = &managed->tensor;
    }
    // The capsule is not consumed: dropping it after the call releases the tensor.
    held_.push_back(capsule.release());
    return take_tensor(*tensor, read_only, view, fault);
}

// ---------------------------------------------------------------- the C exchange API

bool Intake::take_exchanged(const dlpack::ExchangeApi& api, PyObject* object, ArgumentView& view,
                            IntakeFault& fault) {
    dlpack::Tensor tensor;
    if (api.borrow_tensor(object, &tensor) != 0) return false;
    // The layout alone does not show whether complex elements must be conjugated.
    if (tensor.type.code == dlpack::kComplex) return take_dlpack(object, view, fault);
    if (!take_tensor(tensor, false, view, fault)) return false;
    if (view.is_array() && view.on_device() && !stream) {
        void* current = nullptr;
        if (api.current_stream(tensor.device.type, tensor.device.id, &current) != 0) return false;
        stream = reinterpret_cast<std::uint64_t>(current);
    }
    return true;
}

// ---------------------------------------------------------------- CuPy

namespace {

// An attribute that a type written in C offers through a getter. The getter is looked up once, for
// the first type that has one; other types are read by attribute name.
class Field {
public:
    explicit Field(const char* name) : name_(PyUnicode_InternFromString(name)) {}

    // A new reference, or null with an exception.
    PyObject* read(PyObject* object) {
        if (Py_TYPE(object) == type_) return getter_->get(object, getter_->closure);
        if (type_ == nullptr) find_getter(Py_TYPE(object));
        return PyObject_GetAttr(object, name_);
    }

private:
    void find_getter(PyTypeObject* type) {
        if (type->tp_getattro != PyObject_GenericGetAttr) return;
        PyObject* found = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name_);
        if (found != nullptr && Py_IS_TYPE(found, &PyGetSetDescr_Type)) {
            // The reference that is kept here keeps both alive.
            getter_ = reinterpret_cast<PyGetSetDescrObject*>(found)->d_getset;
            type_ = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
        } else {
            Py_XDECREF(found);
            PyErr_Clear();
        }
    }

    PyObject* name_;
    PyTypeObject* type_ = nullptr;
    const PyGetSetDef* getter_ = nullptr;
};

struct CupyFields {
    Field data{"data"}, ptr{"ptr"}, dtype{"dtype"}, shape{"shape"}, strides{"strides"},
        contiguous{"_c_contiguous"}, device_id{"device_id"};
};
CupyFields& cupy_fields() {
    static CupyFields fields;
    return fields;
}

}  // namespace

// Reads field by field: CuPy's __cuda_array_interface__ costs more than the launch of a kernel.
bool Intake::take_cupy(PyObject* object, ArgumentView& view, IntakeFault& fault) {
    CupyFields& fields = cupy_fields();
    const Owned memory(fields.data.read(object));
    const Owned pointer(memory ? fields.ptr.read(memory.get()) : nullptr);
    const Owned dtype(pointer ? fields.dtype.read(object) : nullptr);
    const Owned shape(dtype ? fields.shape.read(object) : nullptr);
    const Owned contiguous(shape ? fields.contiguous.read(object) : nullptr);
    if (!contiguous) return false;
    if (!PyArray_DescrCheck(dtype.get()) || !PyTuple_Check(shape.get())) {
        PyErr_SetString(PyExc_TypeError, "an unknown kind of CuPy array");
        return false;
    }
    auto* descr = reinterpret_cast<PyArray_Descr*>(dtype.get());
    const auto rank = static_cast<int>(PyTuple_GET_SIZE(shape.get()));
    if (!check_dtype(descr, fault) || !check_rank(rank, fault)) return false;
    if (rank == 0) return refuse_device_scalar(fault);
    const auto element = static_cast<Scalar>(intake::scalar_of(descr));
    const std::int64_t size = ir::size_in_bytes(element);
    std::int64_t* extents = new_dims();
    std::int64_t* strides = extents + kMaxRank;
    if (!read_integers(shape.get(), extents)) return false;
    if (contiguous.get() == Py_True) {
        contiguous_strides(rank, size, extents, strides);
    } else {
        const Owned given(fields.strides.read(object));
        if (!given || !read_integers(given.get(), strides)) return false;
        if (!has_whole_strides(rank, size, strides)) return refuse_strides(fault);
    }
    view.data = PyLong_AsVoidPtr(pointer.get());
    long device_id = 0;
    if (cuda::device_count() != 1) {
        const Owned device(fields.device_id.read(memory.get()));
        device_id = device ? PyLong_AsLong(device.get()) : -1;
    }
    if (PyErr_Occurred() != nullptr) return false;
    view.header = ArgumentView::array_header(element, rank) | ArgumentView::kOnDevice |
                  static_cast<std::uint64_t>(device_id & 255) << ArgumentView::kDeviceShift;
    view.extents = extents;
    view.strides = strides;
    has_cupy_arrays = true;
    return true;
}

// ---------------------------------------------------------------- which of them a type has

namespace {

struct Reader {
    enum class Kind : std::uint8_t { kNone, kExchange, kCupy, kCudaInterface, kDlpack };
    PyTypeObject* type = nullptr;  // borrowed
    // A weak reference to the type: a new type at the address of a dead one must not match.
    PyObject* weak = nullptr;
    Kind kind = Kind::kNone;
    const dlpack::ExchangeApi* api = nullptr;
};

const dlpack::ExchangeApi* exchange_api(PyObject* type) {
    const Owned capsule(optional_attribute(type, "__dlpack_c_exchange_api__"));
    PyErr_Clear();
    if (!capsule || PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api") == 0) return nullptr;
    auto* api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
    while (api != nullptr && api->major != dlpack::ExchangeApi::kMajor)
        api = api->previous;
    if (api == nullptr || api->borrow_tensor == nullptr || api->current_stream == nullptr)
        return nullptr;
    return api;
}

bool has_attribute(PyObject* type, const char* name) {
    const Owned found(optional_attribute(type, name));
    PyErr_Clear();
    return static_cast<bool>(found);
}

bool is_cupy_array(PyTypeObject* type) {
    if (std::strcmp(type->tp_name, "ndarray") != 0 &&
        std::strcmp(type->tp_name, "cupy.ndarray") != 0) {
        return false;
    }
    const Owned module(optional_attribute(reinterpret_cast<PyObject*>(type), "__module__"));
    return module && PyUnicode_Check(module.get()) &&
           PyUnicode_CompareWithASCIIString(module.get(), "cupy") == 0;
}

Reader make_reader(PyTypeObject* type) {
    Reader reader;
    reader.type = type;
    auto* object = reinterpret_cast<PyObject*>(type);
    if ((reader.api = exchange_api(object)) != nullptr) {
        reader.kind = Reader::Kind::kExchange;
    } else if (is_cupy_array(type)) {
        reader.kind = Reader::Kind::kCupy;
    } else if (has_attribute(object, "__cuda_array_interface__")) {
        reader.kind = Reader::Kind::kCudaInterface;
    } else if (has_attribute(object, "__dlpack_device__")) {
        reader.kind = Reader::Kind::kDlpack;
    }
    return reader;
}

// The readers of the last few types; returns a copy, because another thread may replace the
// original.
Reader reader_of(PyTypeObject* type) {
    static std::array<Reader, 16> known;
    static std::size_t next = 0;
#ifdef Py_GIL_DISABLED
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
#endif
    for (const Reader& reader : known) {
        if (reader.type == type && PyWeakref_GetObject(reader.weak) != Py_None) return reader;
    }
    Reader made = make_reader(type);
    if (made.kind == Reader::Kind::kNone) return made;
    made.weak = PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), nullptr);
    if (made.weak == nullptr) {
        PyErr_Clear();
        return made;
    }
    Reader& place = known[next++ % known.size()];
    Py_XDECREF(std::exchange(place.weak, made.weak));
    place = made;
    return made;
}

}  // namespace

bool Intake::take_foreign(PyObject* object, ArgumentView& view, IntakeFault& fault, bool& taken) {
    const Reader reader = reader_of(Py_TYPE(object));
    switch (reader.kind) {
        case Reader::Kind::kExchange:
            taken = take_exchanged(*reader.api, object, view, fault);
            return true;
        case Reader::Kind::kCupy:
            taken = take_cupy(object, view, fault);
            return true;
        case Reader::Kind::kCudaInterface:
        case Reader::Kind::kNone: {
            // PyTorch has the attribute on every tensor and raises for those on the host; objects
            // of other types may have it on the instance.
            const Owned interface(optional_attribute(object, "__cuda_array_interface__"));
            if (interface) {
                taken = take_cuda_interface(interface.get(), view, fault);
                return true;
            }
            if (PyErr_Occurred() != nullptr && !PyErr_ExceptionMatches(PyExc_Exception)) {
                taken = false;
                return true;
            }
            PyErr_Clear();
            if (!has_attribute(object, "__dlpack_device__")) return false;
            [[fallthrough]];
        }
        case Reader::Kind::kDlpack:
            taken = take_dlpack(object, view, fault);
            return true;
    }
    return false;
}

}  // namespace parpy
