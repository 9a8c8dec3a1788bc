// The Python extension _native: a list of what each binding file adds.
#include <nanobind/nanobind.h>

namespace parpy {
void bind_ir(nanobind::module_& m);
void bind_diagnostics(nanobind::module_& m);
}  // namespace parpy

NB_MODULE(_native, m) {
    parpy::bind_ir(m);
    parpy::bind_diagnostics(m);
}
