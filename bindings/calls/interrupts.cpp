// While a launch of the main thread runs, the simulator asks here whether Python handles a SIGINT.
#include <csignal>

#include "numpy_api.h"
#include "owned.h"
#include "runtime/interruption.h"

namespace parpy {

namespace {

// Whether SIGINT has a handler that is not Python's own, which raises KeyboardInterrupt.
bool may_go_on() {
    const PyGILState_STATE state = PyGILState_Ensure();
    bool own = true;
    if (const Owned signals(PyImport_ImportModule("signal")); signals) {
        const Owned handler(PyObject_CallMethod(signals.get(), "getsignal", "i", SIGINT));
        const Owned usual(PyObject_GetAttrString(signals.get(), "default_int_handler"));
        own =
            !handler || !usual || handler.get() == usual.get() || !PyCallable_Check(handler.get());
    }
    PyErr_Clear();
    PyGILState_Release(state);
    return !own;
}

// The exception that a handler raises stays: the call ends with it, and Python calls the handlers
// of what comes meanwhile after it.
bool ends() {
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool raised = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return raised;
}

}  // namespace

void bind_interrupts() {
    sim::set_interrupt_hooks({may_go_on, ends});
}

}  // namespace parpy
