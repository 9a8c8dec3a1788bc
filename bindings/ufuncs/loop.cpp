// The common part of both kinds of loops: see loop.h.
#include "ufuncs/loop.h"

#include <nanobind/nanobind.h>

#include "raise.h"

namespace nb = nanobind;

namespace parpy {

LoopBody::LoopBody(PyObject* parsed, PyObject* parameters) : surface(parsed, parameters) {
    const std::size_t own = surface.leaves.size();
    for (std::size_t i = 0; i < surface.captures.size(); ++i) {
        const nb::object value = nb::steal(surface.captures[i].read_new());
        ArgumentView& view = captured.emplace_back();
        IntakeFault fault;
        if (value.is_valid()) {
            intake.hold(value.ptr());
            if (take_fast(value.ptr(), view) || intake.take(value.ptr(), view, fault)) continue;
        } else {
            if (PyErr_Occurred() != nullptr) nb::raise_python_error();
            fault = {Code::kP101, "is not defined", "define it before the decorator"};
        }
        raise_fault(surface, own + i, fault);
        nb::raise_python_error();
    }
}

Loop::Loop(PyObject* parsed, PyObject* parameters, LoopParts parts)
    : parts_(std::move(parts)), body_(parsed, parameters) {}

bool Loop::fail(const RuntimeError& error) const {
    const WithGil gil;
    if (PyErr_Occurred() == nullptr && PyErr_CheckSignals() == 0)
        set_python_error(error, body_.surface.module->sources);
    return false;
}

}  // namespace parpy
