// Arguments that are dicts: one compiled parameter for each key that the function reads; what else
// is in them is never looked at. Also fields of records and attributes of other objects, which are
// read alike.
#include <string>

#include "calls/jit_function.h"
#include "owned.h"

namespace parpy {

namespace {

std::string shown(PyObject* object) {
    const Owned text(PyObject_Repr(object));
    const char* found = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    PyErr_Clear();
    return found != nullptr ? found : "?";
}

std::string keys(PyObject* dict) {
    constexpr std::size_t kMost = 200;
    std::string out;
    const Owned all(PyDict_Keys(dict));
    const Py_ssize_t count = all ? PyList_GET_SIZE(all.get()) : 0;
    for (Py_ssize_t i = 0; i < count && out.size() < kMost; ++i)
        out += (out.empty() ? "" : ", ") + shown(PyList_GET_ITEM(all.get(), i));
    return out.size() < kMost ? out : out + ", …";
}

// The names of the fields of an array of records, or of one of them, where an exception says that
// another was read, which is dropped; empty, and the exception stays, for other objects.
std::string field_names(PyObject* value) {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    const Owned dtype(PyObject_GetAttrString(value, "dtype"));
    const Owned names(dtype ? PyObject_GetAttrString(dtype.get(), "names") : nullptr);
    std::string out;
    if (names && PyTuple_Check(names.get())) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
            const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names.get(), i));
            out += std::string(i > 0 ? ", '" : "'") + (name != nullptr ? name : "?") + "'";
        }
    }
    PyErr_Clear();
    if (out.empty()) {
        PyErr_Restore(type, error, trace);
    } else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    return out;
}

// The attribute of an object that takes no text as a subscript; null, and the exception that says
// so stays, where it has none.
PyObject* attribute(PyObject* value, PyObject* name) {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyObject* found = PyObject_GetAttr(value, name);
    if (found == nullptr) {
        PyErr_Restore(type, error, trace);  // in the place of the other one
    } else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    return found;
}

}  // namespace

PyObject* leaf_value(const Surface& surface, const Leaf& leaf, PyObject* const* args,
                     Intake& intake) {
    PyObject* value = args[leaf.parameter];
    if (leaf.key == nullptr) return value;
    PyObject* entry = PyObject_GetItem(value, leaf.key);
    if (entry == nullptr && PyErr_ExceptionMatches(PyExc_TypeError)) {
        entry = attribute(value, leaf.key);
    }
    if (entry == nullptr) {
        IntakeFault fault;  // without a code: the exception is the mapping's own
        if (PyDict_Check(value) && PyErr_ExceptionMatches(PyExc_KeyError)) {
            PyErr_Clear();
            fault = {Code::kP558, "is read, but the dict has no such key",
                     PyDict_Size(value) == 0 ? "the dict is empty" : "its keys are " + keys(value)};
        } else if (PyErr_ExceptionMatches(PyExc_TypeError) ||
                   PyErr_ExceptionMatches(PyExc_IndexError)) {
            PyErr_Clear();
            const bool is_array = PyObject_HasAttrString(value, "dtype") != 0;
            fault = {Code::kP557,
                     "is read from an object of type '" + std::string(Py_TYPE(value)->tp_name) +
                         "', which is no dict" +
                         (is_array ? " and has no fields" : " and has no such attribute"),
                     std::string("pass a dict with the keys, or an object with the attributes, "
                                 "that the function reads") +
                         (is_array ? ", or to a kernel an array of records" : "")};
        } else if (PyErr_ExceptionMatches(PyExc_ValueError)) {
            const std::string fields = field_names(value);
            if (!fields.empty()) {
                fault = {Code::kP557, "is no field of the records", "their fields are " + fields};
            }
        }
        raise_fault(surface, static_cast<std::size_t>(&leaf - surface.leaves.data()), fault);
        return nullptr;
    }
    intake.hold(entry);
    Py_DECREF(entry);
    return entry;
}

}  // namespace parpy
