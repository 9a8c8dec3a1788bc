// What the rest of the bindings uses of JitFunction: its type, and a call taken apart without
// running it.
#pragma once

#include <vector>

#include "jit_function.h"

namespace parpy {

[[nodiscard]] PyTypeObject* jit_function_type();

// The arguments of one call, read but not run: for print_compiled, the interpreter and explain.
struct Call {
    explicit Call(JitFunction* self) : active(self) {}
    ~Call() { Py_XDECREF(bound); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    Active active;
    Surface* surface = nullptr;
    PyObject* bound = nullptr;  // owned
    Intake intake;
    std::vector<ArgumentView> views;
};
// False with a Python exception set.
[[nodiscard]] bool read_call(JitFunction* self, PyObject* positional, Call& call);

}  // namespace parpy
