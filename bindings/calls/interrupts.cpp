// Lets the simulator check whether Python handles a SIGINT during a launch of the main thread.
#include <csignal>

#include "numpy_api.h"
#include "owned.h"
#include "runtime/interruption.h"

namespace parpy {

namespace {

// Whether SIGINT has a handler other than Python's own, which raises KeyboardInterrupt.
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

// Whether the call must end: an exception that a handler raised stays set and ends it, and Python
// runs the handlers of later signals afterwards.
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
