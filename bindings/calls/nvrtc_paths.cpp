// See nvrtc_paths.h.
#include "calls/nvrtc_paths.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "runtime/cuda/nvrtc.h"

namespace nb = nanobind;

namespace parpy {

void pass_search_paths_to_nvrtc() {
    std::vector<std::string> directories;
    PyObject* paths = PySys_GetObject("path");  // borrowed; null while the interpreter shuts down
    if (paths == nullptr || !PyList_Check(paths)) return;
    for (const nb::handle path : nb::borrow<nb::list>(paths)) {
        if (nb::isinstance<nb::str>(path)) directories.emplace_back(nb::str(path).c_str());
    }
    cuda::set_nvrtc_search_paths(std::move(directories));
}

}  // namespace parpy
