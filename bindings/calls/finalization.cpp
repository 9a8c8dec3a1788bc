// The end of the interpreter while daemon threads are inside of ParPy.
//
// Such a thread ends when it requests the GIL: until Python 3.13 by pthread_exit, which unwinds its
// stack. This would run our destructors without the GIL, and end the process in the first noexcept
// function or catch (...). Therefore the first frame of ParPy that the unwinding reaches blocks the
// thread for good, as Python itself does from 3.14 on.
#include <nanobind/nanobind.h>
#include <unistd.h>
#include <unwind.h>

#include "arrays/array_intake.h"

namespace nb = nanobind;

// The linker replaces the personality function of every C++ frame of this library by it
// (cmake/python_extension.cmake).
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
#if PY_VERSION_HEX >= 0x030D0000
    const bool ends = Py_IsFinalizing() != 0;
#else
    const bool ends = _Py_IsFinalizing() != 0;
#endif
    const bool of_thread = (actions & _UA_FORCE_UNWIND) != 0;
    while (ends && of_thread)
        ::pause();
    return __real___gxx_personality_v0(version, actions, kind, exception, context);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace parpy {

namespace {

bool has_other_threads() {
    PyThreadState* own = PyThreadState_Get();
    PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; state != nullptr; state = PyThreadState_Next(state)) {
        if (state != own) return true;
    }
    return false;
}

}  // namespace

// Objects on the stacks of blocked daemon threads are never released, which is no leak of ours.
// Without such threads development builds report leaks, releases do not.
void bind_finalization() {
#ifdef NDEBUG
    nb::set_leak_warnings(false);
#endif
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        if (has_other_threads()) nb::set_leak_warnings(false);
        release_array_types();
    }));
}

}  // namespace parpy
