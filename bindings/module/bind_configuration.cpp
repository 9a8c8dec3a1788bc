// Describes this build and this machine for parpy.show_config.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "calls/nvrtc_paths.h"
#include "runtime/cache/kernel_cache.h"
#include "runtime/cpu/cpp_compiler.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"

namespace nb = nanobind;

namespace parpy {

void bind_configuration(nb::module_& m) {
    m.attr("version") = PARPY_VERSION;
    m.def(
        "configuration",
        [] {
            nb::dict found;
            found["clang"] = cpp_compiler_version();
            found["processor"] = host_processor();
            found["vector_bits"] = 8 * host_vectors().bytes;
            found["tbb"] = threading_version();
            found["threads"] = worker_count();
            const KernelCache& cache = KernelCache::instance();
            found["cache"] = cache.directory().string();
            found["cache_bound"] = cache.bound();
            pass_search_paths_to_nvrtc();
            const auto [major, minor] = cuda::nvrtc_version();
            found["nvrtc"] = major == 0 ? "" : std::to_string(major) + "." + std::to_string(minor);
            found["nvrtc_file"] = cuda::nvrtc_file();
            const int driver = cuda::Driver::instance().version;
            found["driver"] = driver == 0 ? ""
                                          : std::to_string(driver / 1000) + "." +
                                                std::to_string(driver % 1000 / 10);
            return found;
        },
        "The versions compiled in, and the devices and libraries found. Opens NVRTC and the CUDA "
        "driver.");
}

}  // namespace parpy
