// See raise.h.
#include "raise.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>

namespace nb = nanobind;

namespace parpy {

void set_python_error(const Diagnostics& diagnostics, const std::vector<Source>& sources) {
    try {
        nb::module_::import_("parpy._errors")
            .attr("fail")(nb::cast(&diagnostics, nb::rv_policy::reference), sources);
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

}  // namespace parpy
