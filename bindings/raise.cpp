// See raise.h.
#include "raise.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>

#include "runtime/cache/kernel_cache.h"

namespace nb = nanobind;

namespace parpy {

void set_python_error(const Diagnostics& diagnostics, const std::vector<Source>& sources) {
    try {
        Diagnostics shown;  // without labels of other functions, which parpy.explain shows
        for (const Diagnostic& each : diagnostics.all()) {
            if (each.code != Code::kP301 || each.severity == Severity::kError) shown.report(each);
        }
        nb::module_::import_("parpy.calls.errors")
            .attr("fail")(nb::cast(&shown, nb::rv_policy::reference), sources);
    } catch (nb::python_error& error) {
        error.restore();
    }
}

void set_python_error(const RuntimeError& error, const std::vector<Source>& sources) {
    Diagnostics diagnostics;
    if (error.located != nullptr) {
        diagnostics.report(*error.located);
    } else {
        diagnostics.error(error.code, {}, error.message).help = error.help;
    }
    set_python_error(diagnostics, sources);
}

bool warn_of(const Diagnostic& note, const std::vector<Source>& sources) {
    try {
        nb::module_::import_("parpy.calls.performance")
            .attr("warn")(std::string(code_name(note.code)), render(note, sources));
        return true;
    } catch (nb::python_error& error) {
        error.restore();
        return false;
    }
}

void set_python_error() {
    try {
        throw;
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        set_python_error(RuntimeError{Code::kP900, error.what(), {}});
    }
}

void hide_own_frames() {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error != nullptr && trace != nullptr) {
        PyException_SetTraceback(error, trace);
        PyObject* module = PyImport_ImportModule("parpy.calls.tracebacks");
        PyObject* done =
            module != nullptr ? PyObject_CallMethod(module, "end_at_caller", "O", error) : nullptr;
        PyErr_Clear();  // a failure here must not replace the error itself
        Py_XDECREF(done);
        Py_XDECREF(module);
        Py_DECREF(trace);
        trace = PyException_GetTraceback(error);
    }
    PyErr_Restore(type, error, trace);
}

bool note_compilation(const std::string& function, const char* backend, double seconds,
                      const std::vector<Source>& sources) {
    try {
        nb::module_::import_("parpy.calls.logs")
            .attr("compiled")(function, backend, seconds, sources);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) {
            error.restore();
            return false;
        }
        error.discard_as_unraisable("the note of a compilation");
    }
    return true;
}

bool warn_of_cache() {
    const std::optional<std::string> complaint = KernelCache::instance().take_complaint();
    if (!complaint) return true;
    try {
        // Paths may contain bytes that are no text.
        const nb::object text = nb::steal(PyUnicode_DecodeFSDefaultAndSize(
            complaint->data(), static_cast<Py_ssize_t>(complaint->size())));
        if (!text.is_valid()) return false;
        nb::module_::import_("parpy.calls.warnings").attr("warn")(text);
        return true;
    } catch (...) {
        set_python_error();
        return false;
    }
}

}  // namespace parpy
