// Arguments that are dicts: one compiled parameter for each key that the function reads; other keys
// are never read. Fields of records and attributes of other objects are read in the same way.
#include <string>
#include <string_view>

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

// The names of the fields of a record or array of records, after an exception for a missing field,
// which is cleared; for other objects empty, and the exception stays.
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

// The attribute of an object that has no text subscripts; null if there is none, and the exception
// of the subscript stays.
PyObject* attribute(PyObject* value, PyObject* name) {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyObject* found = PyObject_GetAttr(value, name);
    if (found == nullptr) {
        PyErr_Restore(type, error, trace);  // replaces the AttributeError
    } else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    return found;
}

// Whether the class may define code that runs when this attribute or entry is read: a property, or
// a method such as __getattr__. Classes made in C, and classes with none of these, do not.
bool may_have_say(PyTypeObject* kind, PyObject* name) {
    if ((kind->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return false;
    if (kind->tp_getattro != PyObject_GenericGetAttr) return true;
    const PyMappingMethods* entries = kind->tp_as_mapping;
    const binaryfunc subscript = entries != nullptr ? entries->mp_subscript : nullptr;
    if (subscript != nullptr && subscript != PyTuple_Type.tp_as_mapping->mp_subscript) return true;
    PyObject* found = _PyType_Lookup(kind, name);  // borrowed
    if (found == nullptr || Py_TYPE(found)->tp_descr_get == nullptr) return false;
    const bool reads_element =
        std::string_view(Py_TYPE(found)->tp_name) == "_collections._tuplegetter";
    return !reads_element && !Py_IS_TYPE(found, &PyMemberDescr_Type);
}

// Whether reading runs code, so that it may not be done once at the beginning of a call. False with
// an exception if that cannot be determined.
bool has_say(PyObject* value, PyObject* name) {
    if (!may_have_say(Py_TYPE(value), name)) return false;
    const Owned module(PyImport_ImportModule("parpy.calls.hooks"));
    if (!module) return false;
    const Owned says(PyObject_CallMethod(module.get(), "has_say", "OO", value, name));
    return says && PyObject_IsTrue(says.get()) == 1;
}

}  // namespace

PyObject* leaf_value(const Surface& surface, const Leaf& leaf, PyObject* const* args,
                     Intake& intake) {
    PyObject* value = args[leaf.parameter];
    if (leaf.key == nullptr) return value;
    if (has_say(value, leaf.key)) {
        raise_fault(surface, static_cast<std::size_t>(&leaf - surface.leaves.data()),
                    {Code::kP550,
                     "is read by a method of the class '" + std::string(Py_TYPE(value)->tp_name) +
                         "', which may do more than look it up",
                     "store it as an attribute, or read it before the call"});
        return nullptr;
    }
    if (PyErr_Occurred() != nullptr) return nullptr;
    PyObject* entry = PyObject_GetItem(value, leaf.key);
    if (entry == nullptr && PyErr_ExceptionMatches(PyExc_TypeError)) {
        entry = attribute(value, leaf.key);
    }
    if (entry == nullptr) {
        IntakeFault fault;  // without a code: the mapping's own exception is set
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
                         "', which is not a dict" +
                         (is_array ? " and has no fields" : " and has no such attribute"),
                     std::string("pass a dict with the keys, or an object with the attributes, "
                                 "that the function reads") +
                         (is_array ? ", or to a kernel an array of records" : "")};
        } else if (PyErr_ExceptionMatches(PyExc_ValueError)) {
            const std::string fields = field_names(value);
            if (!fields.empty()) {
                fault = {Code::kP557, "is not a field of the records",
                         "their fields are " + fields};
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
