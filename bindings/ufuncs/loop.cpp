// What loops of both kinds have in common: see loop.h.
#include "ufuncs/loop.h"

#include <nanobind/nanobind.h>

#include "raise.h"

namespace nb = nanobind;

namespace parpy {

Loop::Loop(PyObject* parsed, PyObject* parameters, LoopParts parts)
    : parts_(std::move(parts)), surface_(parsed, parameters) {
    for (std::size_t i = 0; i < surface_.captures.size(); ++i) {
        const nb::object value = nb::steal(surface_.captures[i].read_new());
        if (!value.is_valid()) {
            if (PyErr_Occurred() == nullptr) {
                raise_fault(surface_, operand_count() + i,
                            {Code::kP101, "is not defined", "define it before the decorator"});
            }
            nb::raise_python_error();
        }
        intake_.hold(value.ptr());
        ArgumentView& view = captured_.emplace_back();
        IntakeFault fault;
        if (take_fast(value.ptr(), view) || intake_.take(value.ptr(), view, fault)) continue;
        raise_fault(surface_, operand_count() + i, fault);
        nb::raise_python_error();
    }
}

bool Loop::fail(const RuntimeError& error) const {
    const WithGil gil;
    if (PyErr_Occurred() == nullptr && PyErr_CheckSignals() == 0)
        set_python_error(error, surface_.module->sources);
    return false;
}

}  // namespace parpy
