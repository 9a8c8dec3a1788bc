// NumPy's own ufunc objects around compiled loops. A loop is added as an ArrayMethod, which can
// report errors, and its types to the table by which NumPy resolves the types of a call. A ufunc
// without types has a resolver that compiles a loop for those of the call.
#define PARPY_IMPORTS_UFUNCS
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "module/options_object.h"
#include "raise.h"
#include "runtime/cpu/fork_gate.h"
#include "support/deep_stack.h"
#include "ufuncs/direct_calls.h"
#include "ufuncs/loop.h"
#include "ufuncs/owner.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

int type_number(ir::Scalar scalar) {
    const auto found = std::ranges::find(kScalarOfTypeNumber, static_cast<std::uint8_t>(scalar));
    if (found == kScalarOfTypeNumber.end() || scalar == ir::Scalar::kBF16) {
        const std::string name(ir::name(scalar));
        throw nb::type_error(("NumPy has no type " + name).c_str());
    }
    return static_cast<int>(found - kScalarOfTypeNumber.begin());
}

namespace {

ir::Scalar scalar_named(const std::string& name) {
    const auto scalar = ir::scalar_from_name(name);
    if (!scalar) throw nb::type_error(("no type is named '" + name + "'").c_str());
    return *scalar;
}

int traverse_owner(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    const Owner* owner = reinterpret_cast<OwnerObject*>(self)->owner;
    if (owner == nullptr) return 0;
    Py_VISIT(owner->make.ptr());
    Py_VISIT(owner->identity.ptr());
    for (const Registered* each = owner->loops.load(); each != nullptr; each = each->next) {
        if (const int found = each->loop->traverse(visit, arg); found != 0) return found;
    }
    return 0;
}

// The names stay: NumPy reads them as long as the ufunc lives.
int clear_owner(PyObject* self) {
    Owner* owner = reinterpret_cast<OwnerObject*>(self)->owner;
    if (owner == nullptr) return 0;
    owner->drop_loops();
    owner->make = nb::none();
    return 0;
}

void delete_owner(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete reinterpret_cast<OwnerObject*>(self)->owner;
    type->tp_free(self);
    Py_DECREF(type);
}

PyTypeObject* owner_type = nullptr;  // made by bind_ufuncs

nb::object owned(std::unique_ptr<Owner> owner) {
    nb::object made = nb::steal(PyType_GenericAlloc(owner_type, 0));
    if (!made.is_valid()) nb::raise_python_error();
    reinterpret_cast<OwnerObject*>(made.ptr())->owner = owner.release();
    return made;
}

const Registered* registered(const PyArrayMethod_Context* context) {
    const Owner& owner = *owner_of(context->caller);
    const Registered* each = owner.loops.load(std::memory_order_acquire);
    const auto suits = [&](const Registered& loop) {
        for (std::size_t i = 0; i < loop.numbers.size(); ++i) {
            const PyArray_Descr* given = context->descriptors[i];
            if (given->type_num != loop.numbers[i]) return false;
            if (is_date(given->type_num) && unit_of(given) != loop.units[i]) return false;
        }
        return true;
    };
    while (each != nullptr && !suits(*each))
        each = each->next;
    return each;
}

int run_loop(PyArrayMethod_Context* context, char* const* data, const npy_intp* dimensions,
             const npy_intp* steps, NpyAuxData*) {
    const Registered* found = registered(context);
    if (found == nullptr) {
        const WithGil gil;
        PyErr_SetString(PyExc_SystemError, "a ufunc has no loop of these types");
        return -1;
    }
    return found->loop->run(data, dimensions, steps) ? 0 : -1;
}

int run_indexed_loop(PyArrayMethod_Context* context, char* const* data, const npy_intp* dimensions,
                     const npy_intp* steps, NpyAuxData*) {
    const Registered* found = registered(context);
    return found != nullptr && found->loop->run_indexed(data, dimensions[0], steps) ? 0 : -1;
}

int reduction_initial(PyArrayMethod_Context* context, npy_bool, void* initial) {
    const Registered* found = registered(context);
    if (found == nullptr || !found->has_initial) return 0;
    const auto size = static_cast<std::size_t>(PyDataType_ELSIZE(context->descriptors[0]));
    std::memcpy(initial, found->initial[0].data(), size);
    return 1;
}

// Fills the table of types for NumPy's resolver and the attribute `types`; it is never called.
void unused_loop(char**, const npy_intp*, const npy_intp*, void*) {}

// Stores the identity as an element of the first output.
bool note_initial(const Owner& owner, Registered& loop, const nb::object& type) {
    if (owner.identity.is_none()) return true;
    auto* descriptor = reinterpret_cast<PyArray_Descr*>(nb::object(type).release().ptr());
    if (descriptor->type_num == NPY_DATETIME) {
        Py_DECREF(descriptor);
        return true;  // no number is a date
    }
    const nb::object array = nb::steal(
        PyArray_NewFromDescr(&PyArray_Type, descriptor, 0, nullptr, nullptr, nullptr, 0, nullptr));
    if (!array.is_valid()) return false;
    auto* made = reinterpret_cast<PyArrayObject*>(array.ptr());
    if (PyArray_SETITEM(made, static_cast<char*>(PyArray_DATA(made)), owner.identity.ptr()) != 0)
        return false;
    std::memcpy(loop.initial[0].data(), PyArray_DATA(made),
                static_cast<std::size_t>(PyArray_ITEMSIZE(made)));
    loop.has_initial = true;
    return true;
}

std::vector<int> core_dimensions(const PyUFuncObject& ufunc) {
    std::vector<int> numbers;
    for (int i = 0; i < ufunc.nargs; ++i) {
        for (int d = 0; d < ufunc.core_num_dims[i]; ++d)
            numbers.push_back(ufunc.core_dim_ixs[ufunc.core_offsets[i] + d]);
    }
    return numbers;
}

Options options_from(nb::handle given) {
    const ConvertedOptions* converted = converted_options(given.ptr());
    if (converted == nullptr) nb::raise_python_error();
    return with_threads(*converted->record, converted->threads);
}

// Makes a loop of a LoopSource of python/parpy/ufuncs/loops.py.
std::unique_ptr<Loop> loop_from(nb::handle source, const PyUFuncObject& ufunc) {
    LoopParts parts;
    for (nb::handle each : source.attr("types"))
        parts.types.push_back(scalar_named(nb::cast<std::string>(each)));
    parts.inputs = static_cast<std::size_t>(ufunc.nin);
    parts.parallel = nb::cast<bool>(source.attr("parallel"));
    parts.mapped = options_from(source.attr("mapped"));
    parts.sequential = options_from(source.attr("sequential"));
    if (!source.attr("reduced").is_none()) parts.reduced = options_from(source.attr("reduced"));
    const nb::object parsed = source.attr("parsed"), parameters = source.attr("parameters");
    if (ufunc.core_enabled == 0)
        return std::make_unique<ElementLoop>(
            parsed.ptr(), parameters.ptr(), nb::object(source.attr("reducing")).ptr(),
            nb::object(source.attr("indexed")).ptr(), std::move(parts));
    parts.core_ranks.assign(ufunc.core_num_dims, ufunc.core_num_dims + ufunc.nargs);
    auto made = std::make_unique<CoreLoop>(parsed.ptr(), parameters.ptr(), std::move(parts));
    made->set_core_dimensions(core_dimensions(ufunc));
    return made;
}

// Makes NumPy call the loops with these types. Throws nb::python_error.
void add_method(PyUFuncObject* ufunc, const Registered& loop) {
    Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    const bool dated = std::ranges::any_of(loop.numbers, is_date);
    std::vector<PyArray_DTypeMeta*> types;
    for (const nb::object& each : loop.descriptors)
        types.push_back(reinterpret_cast<PyArray_DTypeMeta*>(Py_TYPE(each.ptr())));
    std::vector slots{
        PyType_Slot{NPY_METH_strided_loop, reinterpret_cast<void*>(&run_loop)},
        PyType_Slot{NPY_METH_get_reduction_initial, reinterpret_cast<void*>(&reduction_initial)}};
    if (loop.loop->has_indexed()) {
        slots.push_back(
            {NPY_METH_contiguous_indexed_loop, reinterpret_cast<void*>(&run_indexed_loop)});
    }
    if (dated)
        slots.push_back({NPY_METH_resolve_descriptors, reinterpret_cast<void*>(&resolve_dates)});
    slots.push_back({0, nullptr});
    PyArrayMethod_Spec spec{};
    spec.name = owner.name.c_str();
    spec.nin = owner.inputs;
    spec.nout = owner.outputs;
    spec.casting = NPY_NO_CASTING;
    spec.flags =
        owner.reorderable ? NPY_METH_IS_REORDERABLE : static_cast<NPY_ARRAYMETHOD_FLAGS>(0);
    spec.dtypes = types.data();
    spec.slots = slots.data();
    if (PyUFunc_AddLoopFromSpec(reinterpret_cast<PyObject*>(ufunc), &spec) != 0)
        nb::raise_python_error();
    if (dated) note_method(ufunc);
}

}  // namespace

const Registered& add_loop(PyUFuncObject* ufunc, nb::handle source) {
    Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    auto made = std::make_unique<Registered>();
    made->loop = loop_from(source, *ufunc);
    note_types(*made, source);
    if (!note_initial(owner, *made, made->descriptors[static_cast<std::size_t>(owner.inputs)]))
        nb::raise_python_error();
    if (nb::cast<bool>(source.attr("prepared")) && !made->loop->prepare()) nb::raise_python_error();

    // Another thread may have added one while Python code ran.
    bool of_other_units = false;
    for (const Registered* each = owner.loops.load(); each != nullptr; each = each->next) {
        if (each->numbers != made->numbers) continue;
        if (each->units == made->units) return *each;
        of_other_units = true;
    }
    const Registered& result = *made;
    auto tables = std::make_unique<Owner::Tables>();
    if (!owner.tables.empty()) *tables = *owner.tables.back();
    if (!of_other_units) {
        for (const int number : made->numbers)
            tables->types.push_back(static_cast<char>(number));
        tables->functions.push_back(&unused_loop);
        tables->data.push_back(nullptr);
        add_method(ufunc, *made);
        ++owner.loop_count;
    }
    made->next = owner.loops.load(std::memory_order_relaxed);
    owner.loops.store(made.release(), std::memory_order_release);
    ufunc->functions = tables->functions.data();
    ufunc->data = tables->data.data();
    ufunc->types = tables->types.data();
    ufunc->ntypes = owner.loop_count;
    owner.tables.push_back(std::move(tables));
    return result;
}

namespace {

// ---------------------------------------------------------------- types found at the call

// Whether an operand is a Python number, whose type yields to those of the others (NEP 50).
bool is_weak(PyArrayObject* operand) {
    int least = 0;
    switch (PyArray_TYPE(operand)) {
        case NPY_LONG:
            least = NPY_BYTE;
            break;
        case NPY_DOUBLE:
            least = NPY_HALF;
            break;
        case NPY_CDOUBLE:
            least = NPY_CFLOAT;
            break;
        default:
            return false;
    }
    if (PyArray_NDIM(operand) != 0) return false;
    PyArray_Descr* narrow = PyArray_DescrFromType(least);
    PyArrayObject* arrays[] = {operand};
    PyArray_Descr* types[] = {narrow};
    PyArray_Descr* common = PyArray_ResultType(1, arrays, 1, types);
    const bool weak = common != nullptr && common->type_num == least;
    Py_DECREF(narrow);
    Py_XDECREF(common);
    PyErr_Clear();
    return weak;
}

// The number of the type of each input; 0 to 23. False with an exception.
bool input_types(const Owner& owner, PyArrayObject** operands, PyObject* wanted,
                 std::vector<int>& types) {
    const auto inputs = static_cast<std::size_t>(owner.inputs);
    int given = -1;  // the type of `dtype=`
    if (wanted != nullptr && PyTuple_Check(wanted)) {
        const Py_ssize_t count = PyTuple_GET_SIZE(wanted);
        bool of_inputs = false;
        for (Py_ssize_t i = 0; i < count; ++i) {
            PyObject* each = PyTuple_GET_ITEM(wanted, i);
            if (each == Py_None || !PyArray_DescrCheck(each)) continue;
            const int number = reinterpret_cast<PyArray_Descr*>(each)->type_num;
            if (i < owner.inputs && count > 1) {
                types[static_cast<std::size_t>(i)] = number;
                of_inputs = true;
            } else {
                given = number;
            }
        }
        if (of_inputs) given = -1;
    }
    PyArray_Descr* common = nullptr;
    for (std::size_t i = 0; i < inputs; ++i) {
        if (types[i] >= 0) continue;
        if (given >= 0) {
            types[i] = given;
        } else if (operands[i] == nullptr) {
            types[i] = operands[0] != nullptr ? PyArray_TYPE(operands[0]) : NPY_DOUBLE;
        } else if (is_weak(operands[i]) && std::none_of(operands, operands + inputs,
                                                        [](auto* o) { return o == nullptr; })) {
            if (common == nullptr)
                common = PyArray_ResultType(static_cast<npy_intp>(inputs), operands, 0, nullptr);
            if (common == nullptr) return false;
            types[i] = common->type_num;
        } else {
            types[i] = PyArray_TYPE(operands[i]);
        }
    }
    Py_XDECREF(common);
    return true;
}

// Chooses a loop for a ufunc with signatures as NumPy does, and adds the candidates to its error.
int resolve_given(PyUFuncObject* ufunc, NPY_CASTING casting, PyArrayObject** operands,
                  PyObject* wanted, PyArray_Descr** out) {
    if (has_dates(*ufunc, operands))
        return resolve_types_of_dates(ufunc, casting, operands, wanted, out);
    if (PyUFunc_DefaultTypeResolver(ufunc, casting, operands, wanted, out) == 0) return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return -1;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    // NumPy's subclasses of TypeError make their text on demand.
    if (type == PyExc_TypeError) {
        try {
            PyErr_Format(PyExc_TypeError, "%S; its loops are %s", value,
                         listed_types(ufunc).c_str());
        } catch (...) {
            set_python_error();
        }
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return -1;
    }
    PyErr_Restore(type, value, trace);
    return -1;
}

int raise_no_loop(const Owner& owner, const std::vector<int>& types) {
    std::string text;
    for (const int number : types) {
        PyArray_Descr* descriptor = PyArray_DescrFromType(number);
        const nb::object held = nb::steal(reinterpret_cast<PyObject*>(descriptor));
        text += (text.empty() ? "" : ", ") + std::string(nb::str(held).c_str());
    }
    PyErr_Format(PyExc_TypeError,
                 "ufunc '%s' not supported for the input types, and the inputs could not be safely "
                 "coerced to any supported types according to the casting rule ''safe'': "
                 "compiled code has no (%s)",
                 owner.name.c_str(), text.c_str());
    return -1;
}

int resolve(PyUFuncObject* ufunc, NPY_CASTING casting, PyArrayObject** operands, PyObject* wanted,
            PyArray_Descr** out) {
    Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    if (has_dates(*ufunc, operands))
        return resolve_types_of_dates(ufunc, casting, operands, wanted, out);
    std::vector<int> types(static_cast<std::size_t>(owner.inputs), -1);
    if (!input_types(owner, operands, wanted, types)) return -1;
    try {
        const auto scalar_of = [&](int number) -> std::optional<ir::Scalar> {
            const auto index = static_cast<std::size_t>(number);
            if (index >= kScalarOfTypeNumber.size() || kScalarOfTypeNumber[index] == kNoScalar)
                return {};
            return static_cast<ir::Scalar>(kScalarOfTypeNumber[index]);
        };
        nb::list inputs, outputs;
        std::vector<std::optional<ir::Scalar>> scalars;  // empty: outputs of any type
        for (const int number : types) {
            scalars.push_back(scalar_of(number));
            if (!scalars.back()) return raise_no_loop(owner, types);
            inputs.append(std::string(ir::name(*scalars.back())));
        }
        // The output of a generalised ufunc may have another type than its inputs.
        for (int i = owner.inputs; i < ufunc->nargs; ++i) {
            const bool given = !owner.layout.empty() && operands[i] != nullptr;
            scalars.push_back(given ? scalar_of(PyArray_TYPE(operands[i])) : std::nullopt);
            outputs.append(scalars.back() ? nb::object(nb::str(ir::name(*scalars.back()).data()))
                                          : nb::none());
        }
        const auto suits = [&](const Loop& loop) {
            for (std::size_t i = 0; i < scalars.size(); ++i) {
                if (scalars[i] && *scalars[i] != loop.types()[i]) return false;
            }
            return true;
        };
        const Registered* found = owner.loops.load(std::memory_order_acquire);
        while (found != nullptr && !suits(*found->loop))
            found = found->next;
        if (found == nullptr)
            found = &add_loop(ufunc, owner.make(nb::tuple(inputs), nb::tuple(outputs)));
        for (std::size_t i = 0; i < found->numbers.size(); ++i)
            out[i] = PyArray_DescrFromType(found->numbers[i]);
    } catch (...) {
        set_python_error();
        return -1;
    }
    if (PyUFunc_ValidateCasting(ufunc, casting, operands, out) == 0) return 0;
    for (int i = 0; i < ufunc->nargs; ++i)
        Py_CLEAR(out[i]);
    return -1;
}

// ---------------------------------------------------------------- the interface for Python

nb::object make_ufunc(const std::string& name, const std::string& doc, int inputs, int outputs,
                      const std::optional<std::string>& layout, nb::object identity,
                      bool reorderable, const nb::list& loops, nb::object make,
                      const std::vector<int>& writable) {
    const nb::object keeper = owned(std::make_unique<Owner>());
    Owner* owner = reinterpret_cast<OwnerObject*>(keeper.ptr())->owner;
    owner->name = name;
    owner->doc = doc;
    owner->layout = layout.value_or("");
    owner->inputs = inputs;
    owner->outputs = outputs;
    owner->identity = std::move(identity);
    owner->reorderable = reorderable;
    owner->make = std::move(make);
    const int kind = !owner->identity.is_none() ? PyUFunc_IdentityValue
                     : reorderable              ? PyUFunc_ReorderableNone
                                                : PyUFunc_None;
    const nb::object made = nb::steal(PyUFunc_FromFuncAndDataAndSignatureAndIdentity(
        nullptr, nullptr, nullptr, 0, inputs, outputs, kind, owner->name.c_str(),
        doc.empty() ? nullptr : owner->doc.c_str(), 0, layout ? owner->layout.c_str() : nullptr,
        owner->identity.is_none() ? nullptr : owner->identity.ptr()));
    if (!made.is_valid()) nb::raise_python_error();
    auto* ufunc = reinterpret_cast<PyUFuncObject*>(made.ptr());
    ufunc->obj = nb::object(keeper).release().ptr();
    // NumPy itself does so only for ufuncs of Python functions.
    if (PyObject_GC_IsTracked(made.ptr()) == 0) PyObject_GC_Track(made.ptr());
    ufunc->type_resolver = owner->make.is_none() ? &resolve_given : &resolve;
    if (!owner->make.is_none()) {
        // NumPy calls no resolver of a ufunc without loops unless it has loops of user-defined
        // types.
        if (ufunc->userloops == nullptr) ufunc->userloops = PyDict_New();
        if (ufunc->userloops == nullptr) nb::raise_python_error();
    }
    for (nb::handle each : loops)
        add_loop(ufunc, each);
    if (!writable.empty() && ufunc->op_flags != nullptr) {
        for (const int operand : writable)
            ufunc->op_flags[operand] = NPY_ITER_READWRITE | NPY_ITER_UPDATEIFCOPY;
    }
    call_without_numpy(ufunc);
    return made;
}

// The types of the numbers that a function returns for numbers of `types`.
nb::list result_types(nb::handle parsed, nb::handle parameters,
                      const std::vector<std::string>& types, nb::handle given) {
    const LoopBody body(parsed.ptr(), parameters.ptr());
    const Surface& surface = body.surface;
    std::vector<ArgumentView> views;
    for (const std::string& type : types) {
        ArgumentView& view = views.emplace_back();
        view.header = ArgumentView::scalar_header(scalar_named(type), false);
        view.value = view.imaginary = 0;
    }
    const std::size_t own = views.size();
    views.insert(views.end(), body.captured.begin(), body.captured.end());
    Generality generality;
    generality.any = true;
    generality.positions.resize(views.size());
    for (std::size_t i = 0; i < own; ++i)
        generality.positions[i].value = true;
    const Signature signature = make_signature(views, generality, 0);
    Diagnostics diagnostics;
    Program program;
    const Options options = options_from(given);
    {
        const nb::gil_scoped_release released;
        const BehindForkGate gate;
        program = surface.compiled(signature, options, diagnostics);
    }
    if (diagnostics.has_errors()) {
        set_python_error(diagnostics, surface.module->sources);
        nb::raise_python_error();
    }
    nb::list result;
    const auto of_argument = [&](std::size_t argument) {
        const auto slot = std::ranges::find_if(program.slots, [&](const Slot& each) {
            return each.argument == argument && each.kind == Slot::Kind::kPointer;
        });
        return slot == program.slots.end() ? std::string() : std::string(ir::name(slot->scalar));
    };
    for (std::size_t i = 0; i < result_count(program); ++i)
        result.append(of_argument(views.size() + i));
    return result;
}

// Whether the first of these arrays may be written and shares no byte with the others; all must be
// contiguous.
bool are_apart(const nb::tuple& arrays) {
    const auto bounds = [](nb::handle handle) -> std::pair<const char*, const char*> {
        if (!PyArray_Check(handle.ptr())) return {};
        auto* array = reinterpret_cast<PyArrayObject*>(handle.ptr());
        if (!PyArray_IS_C_CONTIGUOUS(array)) return {};
        return {PyArray_BYTES(array), PyArray_BYTES(array) + PyArray_NBYTES(array)};
    };
    const auto [first, last] = bounds(arrays[0]);
    if (last == nullptr || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(arrays[0].ptr())))
        return false;
    for (std::size_t i = 1; i < arrays.size(); ++i) {
        const auto [begin, end] = bounds(arrays[i]);
        if (end == nullptr || (begin < last && first < end)) return false;
    }
    return true;
}

}  // namespace

void bind_ufuncs(nb::module_& m) {
    if (PyUFunc_ImportUFuncAPI() < 0) nb::raise_python_error();
    std::array slots{PyType_Slot{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner)},
                     PyType_Slot{Py_tp_clear, reinterpret_cast<void*>(&clear_owner)},
                     PyType_Slot{Py_tp_dealloc, reinterpret_cast<void*>(&delete_owner)},
                     PyType_Slot{0, nullptr}};
    PyType_Spec spec{"parpy._native.UfuncLoops", sizeof(OwnerObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                     slots.data()};
    owner_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (owner_type == nullptr) nb::raise_python_error();
    m.def("make_ufunc", make_ufunc, "name"_a, "doc"_a, "inputs"_a, "outputs"_a, "layout"_a.none(),
          "identity"_a.none(), "reorderable"_a, "loops"_a, "make"_a.none(), "writable"_a,
          "A numpy.ufunc whose inner loops are compiled.");
    m.def(
        "address_of",
        [](nb::handle array) {
            if (!PyArray_Check(array.ptr())) throw nb::type_error("a NumPy array");
            return reinterpret_cast<std::uintptr_t>(
                PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
        },
        "array"_a, "The address of the first element.");
    m.def(
        "are_apart", are_apart, "arrays"_a,
        "Whether the first of these NumPy arrays surely shares no byte with the others, and may be "
        "written.");
    m.def("result_types", result_types, "parsed"_a, "parameters"_a, "types"_a, "options"_a,
          "The types of the numbers that a function of numbers of these types returns.");
}

}  // namespace parpy
