// The loops of dates and durations. NumPy finds them by the classes of the types; the units
// determine which of them runs. Without signatures a loop is made for each combination of units.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "raise.h"
#include "ufuncs/owner.h"

namespace parpy {

namespace {

// NumPy tells the resolver of a loop only the loop's own object. Guarded by the interpreter lock.
std::unordered_map<const void*, PyUFuncObject*>& ufunc_of_method() {
    static auto* const map = new std::unordered_map<const void*, PyUFuncObject*>;
    return *map;
}

PyArray_Descr* descriptor_of(const Registered& loop, std::size_t operand) {
    return reinterpret_cast<PyArray_Descr*>(loop.descriptors[operand].ptr());
}

// The first loop, in the order of the signatures, whose inputs `fits(loop, input)` accepts.
template <class Fits>
const Registered* first_loop(const Owner& owner, Fits&& fits) {
    const Registered* found = nullptr;
    for (const Registered* each = owner.loops.load(); each != nullptr; each = each->next) {
        bool all = true;
        for (int i = 0; i < owner.inputs && all; ++i)
            all = fits(*each, static_cast<std::size_t>(i));
        if (all) found = each;
    }
    return found;
}

// The name by which loops.py knows the type; empty for a type that compiled code does not have.
std::string name_of_type(PyArray_Descr* descriptor) {
    if (is_date(descriptor->type_num))
        return nb::str(nb::handle(reinterpret_cast<PyObject*>(descriptor))).c_str();
    const auto index = static_cast<std::size_t>(descriptor->type_num);
    if (index >= kScalarOfTypeNumber.size() || kScalarOfTypeNumber[index] == kNoScalar) return "";
    return std::string(ir::name(static_cast<ir::Scalar>(kScalarOfTypeNumber[index])));
}

void raise_no_dates(PyUFuncObject* ufunc, const std::vector<PyArray_Descr*>& types) {
    std::string text;
    for (PyArray_Descr* each : types) {
        const nb::str shown{nb::handle(reinterpret_cast<PyObject*>(each))};
        text += (text.empty() ? "" : ", ") + std::string(shown.c_str());
    }
    PyErr_Format(PyExc_TypeError,
                 "ufunc '%s' not supported for the input types (%s), and the inputs could not be "
                 "safely coerced to any supported types; its loops are %s",
                 owner_of(reinterpret_cast<PyObject*>(ufunc))->name.c_str(), text.c_str(),
                 listed_types(ufunc).c_str());
}

// The loop for inputs of exactly these types, which is made if the ufunc has no signatures. Null
// with an exception.
const Registered* made_for(PyUFuncObject* ufunc, const std::vector<PyArray_Descr*>& inputs) {
    const Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    const Registered* found = first_loop(owner, [&](const Registered& loop, std::size_t i) {
        return loop.numbers[i] == inputs[i]->type_num && loop.units[i] == unit_of(inputs[i]);
    });
    if (found != nullptr) return found;
    nb::list names, outputs;
    for (PyArray_Descr* each : inputs) {
        const std::string name = name_of_type(each);
        if (name.empty()) {
            raise_no_dates(ufunc, inputs);
            return nullptr;
        }
        names.append(name);
    }
    for (int i = 0; i < owner.outputs; ++i)
        outputs.append(nb::none());
    return &add_loop(ufunc, owner.make(nb::tuple(names), nb::tuple(outputs)));
}

// Stores the types of the loop for these inputs: of the first one that `casts(loop, input)`
// accepts, or of one that is made for them. False with an exception if there is none.
template <class Casts>
bool find_types(PyUFuncObject* ufunc, const std::vector<PyArray_Descr*>& inputs,
                PyArray_Descr** types, Casts&& casts) {
    const Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    const bool given = owner.make.is_none();
    const Registered* found = given ? first_loop(owner, casts) : made_for(ufunc, inputs);
    if (found == nullptr && given) raise_no_dates(ufunc, inputs);
    if (found == nullptr) return false;
    for (std::size_t i = 0; i < found->numbers.size(); ++i) {
        types[i] = descriptor_of(*found, i);
        Py_INCREF(types[i]);
    }
    return true;
}

// The loop that was added last, as (classes of types, method). NumPy keeps loops in a list, and
// from version 2.5 on in a dict.
PyObject* last_loop(PyObject* loops) {
    if (PyList_Check(loops)) return PyList_GET_ITEM(loops, PyList_GET_SIZE(loops) - 1);
    if (!PyDict_Check(loops))
        throw std::runtime_error("this version of NumPy keeps loops elsewhere");
    PyObject *key = nullptr, *last = nullptr;
    for (Py_ssize_t place = 0; PyDict_Next(loops, &place, &key, &last) != 0;) {
    }
    return last;
}

}  // namespace

Owner::~Owner() {
    drop_loops();
    for (PyObject* each : methods)
        ufunc_of_method().erase(each);
}

std::string listed_types(PyUFuncObject* ufunc) {
    const nb::object loops = nb::handle(reinterpret_cast<PyObject*>(ufunc)).attr("types");
    return nb::cast<std::string>(nb::str(", ").attr("join")(loops));
}

// The descriptors of the types of a loop, with the units of dates and durations.
void note_types(Registered& made, nb::handle source) {
    std::vector<std::string> dates(made.loop->types().size());
    const nb::object shown = source.attr("dates");
    if (nb::len(shown) != 0) dates = nb::cast<std::vector<std::string>>(shown);
    for (std::size_t i = 0; i < dates.size(); ++i) {
        PyArray_Descr* descriptor = nullptr;
        if (dates[i].empty()) {
            descriptor = PyArray_DescrFromType(type_number(made.loop->types()[i]));
        } else if (PyArray_DescrConverter(nb::str(dates[i].c_str()).ptr(), &descriptor) == 0) {
            nb::raise_python_error();
        }
        made.descriptors.push_back(nb::steal(reinterpret_cast<PyObject*>(descriptor)));
        made.numbers.push_back(descriptor->type_num);
        made.units.push_back(unit_of(descriptor));
    }
}

void note_method(PyUFuncObject* ufunc) {
    PyObject* method = PyTuple_GET_ITEM(last_loop(ufunc->_loops), 1);
    owner_of(reinterpret_cast<PyObject*>(ufunc))->methods.push_back(method);
    ufunc_of_method()[method] = ufunc;
}

int resolve_dates(PyArrayMethodObject_tag* method, PyArray_DTypeMeta* const*,
                  PyArray_Descr* const* given, PyArray_Descr** loop, npy_intp*) {
    try {
        PyUFuncObject* ufunc = ufunc_of_method().at(method);
        const Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
        const std::vector<PyArray_Descr*> inputs(given, given + owner.inputs);
        const bool found =
            find_types(ufunc, inputs, loop, [&](const Registered& each, std::size_t i) {
                return PyArray_CanCastTypeTo(inputs[i], descriptor_of(each, i), NPY_SAFE_CASTING) !=
                       0;
            });
        return found ? static_cast<int>(NPY_NO_CASTING) : -1;
    } catch (...) {
        set_python_error();
        return -1;
    }
}

int resolve_types_of_dates(PyUFuncObject* ufunc, NPY_CASTING casting, PyArrayObject** operands,
                           PyObject* wanted, PyArray_Descr** out) try {
    const Owner& owner = *owner_of(reinterpret_cast<PyObject*>(ufunc));
    if (wanted != nullptr) {
        PyErr_Format(PyExc_TypeError,
                     "ufunc '%s' takes neither 'dtype' nor 'signature' for dates and durations",
                     owner.name.c_str());
        return -1;
    }
    std::vector<PyArray_Descr*> inputs;
    for (int i = 0; i < owner.inputs; ++i)
        inputs.push_back(PyArray_DESCR(operands[i]));
    const bool found = find_types(ufunc, inputs, out, [&](const Registered& each, std::size_t i) {
        return PyArray_CanCastArrayTo(operands[i], descriptor_of(each, i), NPY_SAFE_CASTING) != 0;
    });
    if (!found) return -1;
    if (PyUFunc_ValidateCasting(ufunc, casting, operands, out) == 0) return 0;
    for (int i = 0; i < ufunc->nargs; ++i)
        Py_CLEAR(out[i]);
    return -1;
} catch (...) {
    set_python_error();
    return -1;
}

bool has_dates(const PyUFuncObject& ufunc, PyArrayObject** operands) {
    return std::any_of(operands, operands + ufunc.nin, [](PyArrayObject* each) {
        return each != nullptr && is_date(PyArray_TYPE(each));
    });
}

}  // namespace parpy
