// The CUDA run time apart from calls: NVRTC on its own, and waiting for the GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "calls/nvrtc_paths.h"
#include "raise.h"
#include "runtime/cpu/fork_gate.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/device_linker.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/sim/sim_executable.h"

namespace nb = nanobind;

namespace parpy {

namespace {

[[noreturn]] void raise(const RuntimeError& error) {
    set_python_error(error);
    throw nb::python_error();
}

}  // namespace

void bind_cuda(nb::module_& m) {
    m.def(
        "compile_cuda",
        [](std::string_view source, const std::string& name, const std::string& architecture,
           bool fast_math, const std::vector<std::string>& extra_flags, bool ptx, bool lto_ir) {
            pass_search_paths_to_nvrtc();
            RuntimeError error;
            std::string image;
            {
                const nb::gil_scoped_release release;
                const BehindForkGate gate;
                cuda::NvrtcOptions options;
                options.architecture = architecture;
                options.fast_math = fast_math;
                options.extra_flags = extra_flags;
                options.ptx = ptx;
                options.lto_ir = lto_ir;
                image = cuda::compile_cuda(source, name, options, error);
            }
            if (error.failed()) raise(error);
            return nb::bytes(image.data(), image.size());
        },
        nb::arg("source"), nb::arg("name") = "kernel.cu", nb::arg("architecture") = "sm_90",
        nb::arg("fast_math") = false, nb::arg("extra_flags") = std::vector<std::string>(),
        nb::arg("ptx") = false, nb::arg("lto_ir") = false,
        "CUDA C++ text as a cubin, as PTX or as LTO-IR. Needs NVRTC, but no GPU.");
    m.def(
        "link_device_code",
        [](nb::bytes image, const std::vector<std::string>& files,
           const std::string& architecture) {
            pass_search_paths_to_nvrtc();
            RuntimeError error;
            std::string linked;
            {
                const nb::gil_scoped_release release;
                const BehindForkGate gate;
                linked = cuda::link_device_code({image.c_str(), image.size()}, files, architecture,
                                                error);
            }
            if (error.failed()) raise(error);
            return nb::bytes(linked.data(), linked.size());
        },
        nb::arg("image"), nb::arg("files"), nb::arg("architecture") = "sm_90",
        "A cubin of relocatable code and files of device code. Needs nvJitLink, but no GPU.");
    m.def(
        "set_simulator",
        [](int warp_size, std::uint64_t seed) { set_simulator({warp_size, seed}); },
        nb::arg("warp_size"), nb::arg("seed"), "How simulated launches run from now on.");
    m.def(
        "synchronize",
        [] {
            RuntimeError error;
            {
                const nb::gil_scoped_release release;
                error = cuda::synchronize_all();
            }
            if (error.failed()) raise(error);
        },
        "Waits for the work of this process on all GPUs it has used.");
}

}  // namespace parpy
