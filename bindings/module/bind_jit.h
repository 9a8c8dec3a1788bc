// The parts of JitFunction that the other bindings use: its type, and the arguments of a call that
// does not run.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "calls/jit_function.h"
#include "raise.h"
#include "runtime/cpu/fork_gate.h"

namespace parpy {

[[nodiscard]] PyTypeObject* jit_function_type();

// The arguments of one call, read but not run: for print_compiled, the interpreter and explain.
struct Call {
    // Raises the same exceptions as the call, and a TypeError if `callable` is no jit function.
    Call(nanobind::handle callable, const nanobind::tuple& arguments);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    JitFunction* const function;
    Active active;
    Surface* surface = nullptr;
    nanobind::object bound;
    Intake intake;
    std::vector<ArgumentView> views;
};
[[nodiscard]] inline Signature signature_of(const Call& call) {
    return make_signature(call.views, {}, overlapping(call.views, call.surface->written));
}

// Calls look(signature, diagnostics) without the GIL, if the arguments match the annotations of the
// parameters. Raises the errors that are found.
template <class Look>
void look_at(const Call& call, const Look& look) {
    Diagnostics diagnostics;
    {
        const nanobind::gil_scoped_release released;
        const BehindForkGate gate;
        const Signature signature = signature_of(call);
        call.surface->check(signature, diagnostics);
        if (!diagnostics.has_errors()) look(signature, diagnostics);
    }
    if (!diagnostics.has_errors()) return;
    set_python_error(diagnostics, call.surface->module->sources);
    nanobind::raise_python_error();
}

// The JitFunction of a Python object, and the options of a call (None: the defaults for its
// arguments). Both raise a TypeError.
[[nodiscard]] JitFunction* jit_function(nanobind::handle object);
[[nodiscard]] const ConvertedOptions& options_of(nanobind::handle options, const Call& call);
[[nodiscard]] Options chosen_options(nanobind::handle options, const Call& call);
// False with a Python exception set.
[[nodiscard]] bool read_call(JitFunction* self, PyObject* positional, Call& call);

}  // namespace parpy
