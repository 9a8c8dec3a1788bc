// The Python type of jit functions: how they are made, collected, bound as methods and pickled.
#include <Python.h>
#include <structmember.h>

#include "calls/jit_function.h"
#include "module/bind_jit.h"

namespace parpy {
namespace {

PyObject* call_empty(PyObject*, PyObject* const*, std::size_t, PyObject*) {
    PyErr_SetString(PyExc_RuntimeError, "the function is called while it is unpickled");
    return nullptr;
}

// An object without contents, which cannot be called.
PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    auto* self = reinterpret_cast<JitFunction*>(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    self->vectorcall = call_empty;
    self->state = new JitFunction::State;
    return reinterpret_cast<PyObject*>(self);
}

int initialize(PyObject* object, PyObject* args, PyObject* keywords) {
    static const char* keys[] = {"function",   "parse",     "bind",         "parameters",
                                 "positional", "fast_math", "check_bounds", nullptr};
    PyObject* function = nullptr;
    PyObject* parse = nullptr;
    PyObject* bind = nullptr;
    PyObject* parameters = nullptr;
    Py_ssize_t positional = -1;
    int fast_math = 0;
    int check_bounds = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OOOO!n|pp", const_cast<char**>(keys),
                                    &function, &parse, &bind, &PyTuple_Type, &parameters,
                                    &positional, &fast_math, &check_bounds) == 0) {
        return -1;
    }
    auto* self = reinterpret_cast<JitFunction*>(object);
    if (self->function != nullptr) {
        PyErr_SetString(PyExc_TypeError, "a function keeps the contents that it was made with");
        return -1;
    }
    self->vectorcall = call_function;
    self->function = Py_NewRef(function);
    self->parse = Py_NewRef(parse);
    self->bind = Py_NewRef(bind);
    self->parameters = Py_NewRef(parameters);
    self->positional = positional;
    self->defaults = {.fast_math = fast_math != 0, .check_bounds = check_bounds != 0};
    return 0;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<JitFunction*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->parse);
    Py_VISIT(self->bind);
    Py_VISIT(self->parameters);
    Py_VISIT(self->dict);
    for (const auto& surface : self->state->surfaces) {
        if (const int stop = surface->traverse(visit, arg)) return stop;
    }
    return 0;
}

int clear(PyObject* object) {
    auto* self = reinterpret_cast<JitFunction*>(object);
    Py_CLEAR(self->function);
    Py_CLEAR(self->parse);
    Py_CLEAR(self->bind);
    Py_CLEAR(self->parameters);
    Py_CLEAR(self->dict);
    // No call is in flight: it would hold a reference to the function, so this would be no garbage.
    self->state->surface = nullptr;
    self->state->surfaces.clear();
    return 0;
}

void deallocate(PyObject* object) {
    auto* self = reinterpret_cast<JitFunction*>(object);
    PyObject_GC_UnTrack(object);
    if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
    clear(object);
    delete self->state;
    PyTypeObject* type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

// Behaves like a function: a method of the instance that it is looked up on.
PyObject* get(PyObject* self, PyObject* instance, PyObject*) {
    return instance == nullptr || instance == Py_None ? Py_NewRef(self)
                                                      : PyMethod_New(self, instance);
}

PyObject* represent(PyObject* object) {
    return PyUnicode_FromFormat("<parpy.jit %R>", reinterpret_cast<JitFunction*>(object)->function);
}

PyObject* cache_info(PyObject* self, PyObject*) {
    PyObject* module = PyImport_ImportModule("parpy.calls.jit");
    if (module == nullptr) return nullptr;
    PyObject* info = PyObject_CallMethod(module, "cache_info", "O", self);
    Py_DECREF(module);
    return info;
}

PyObject* reduce(PyObject* self, PyObject* protocol) {
    PyObject* module = PyImport_ImportModule("parpy.calls.pickling");
    if (module == nullptr) return nullptr;
    PyObject* found = PyObject_CallMethod(module, "reduced", "OO", self, protocol);
    Py_DECREF(module);
    return found;
}

PyObject* itself(PyObject* self, PyObject*) {
    return Py_NewRef(self);
}

PyMethodDef methods[] = {
    {"__reduce_ex__", reduce, METH_O, "Pickles it as Python pickles its functions."},
    {"__copy__", itself, METH_NOARGS, "A copy of a function is the function."},
    {"__deepcopy__", itself, METH_O, "A copy of a function is the function."},
    {"cache_info", cache_info, METH_NOARGS,
     "The programs that this process compiled for the function."},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(JitFunction, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(JitFunction, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(JitFunction, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_init, reinterpret_cast<void*>(initialize)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_descr_get, reinterpret_cast<void*>(get)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_doc, const_cast<char*>("A Python function that is compiled when it is called.")},
    {0, nullptr},
};
PyType_Spec spec = {"parpy._native.JitFunction", sizeof(JitFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyTypeObject* the_type = nullptr;

}  // namespace

PyTypeObject* jit_function_type() {
    if (the_type == nullptr) the_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return the_type;
}

}  // namespace parpy
