// The extension module parpy._native: each file of this folder has one bind_ function.
#define PARPY_IMPORTS_NUMPY
#include <nanobind/nanobind.h>

#include "numpy_api.h"

namespace nb = nanobind;

namespace parpy {
void bind_diagnostics(nb::module_& m);
void bind_ir(nb::module_& m);
void bind_library_calls(nb::module_& m);
void bind_options(nb::module_& m);
void bind_compile(nb::module_& m);
void bind_configuration(nb::module_& m);
void bind_cuda(nb::module_& m);
void bind_device(nb::module_& m);
void bind_allocator(nb::module_& m);
void bind_device_memory(nb::module_& m);
void bind_eval(nb::module_& m);
void bind_analysis(nb::module_& m);
void bind_explain(nb::module_& m);
void bind_halo(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_text(nb::module_& m);
void bind_tune(nb::module_& m);
void bind_buffer(nb::module_& m);
void bind_ufuncs(nb::module_& m);
void bind_interrupts();
void bind_finalization();
}  // namespace parpy

NB_MODULE(_native, m) {
    m.doc() = "The compiler core of ParPy. Private: everything public is in the package parpy.";
    if (PyArray_ImportNumPyAPI() < 0) nb::raise_python_error();
    parpy::bind_diagnostics(m);
    parpy::bind_ir(m);
    parpy::bind_library_calls(m);
    parpy::bind_options(m);
    parpy::bind_compile(m);
    parpy::bind_configuration(m);
    parpy::bind_cuda(m);
    parpy::bind_device(m);
    parpy::bind_allocator(m);
    parpy::bind_device_memory(m);
    parpy::bind_eval(m);
    parpy::bind_analysis(m);
    parpy::bind_explain(m);
    parpy::bind_halo(m);
    parpy::bind_parts(m);
    parpy::bind_text(m);
    parpy::bind_tune(m);
    parpy::bind_buffer(m);
    parpy::bind_ufuncs(m);
    parpy::bind_interrupts();
    parpy::bind_finalization();
}
