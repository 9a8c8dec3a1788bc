// NVRTC, NVIDIA's run-time compiler for CUDA C++, found at run time: a pip wheel
// (nvidia-cuda-nvrtc) in one of the search paths, then a CUDA toolkit, then the loader's search
// path. CUDA text in, machine code out; needs neither a GPU nor a driver.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/runtime_error.h"

namespace parpy::cuda {

struct NvrtcOptions {
    std::string architecture = "sm_90";
    bool fast_math = false;             // --use_fast_math; without it floating point is strict IEEE
    std::vector<std::string> includes;  // directories
    std::vector<std::string> extra_flags;  // in NVRTC's spelling
    bool ptx = false;                      // PTX rather than machine code, for people to read
    bool lto_ir = false;                   // code that is optimised when nvJitLink links it
};

// Directories such as those of sys.path that may contain an `nvidia` package; searched at the next
// attempt to find NVRTC, until it is found. PARPY_NVRTC in the environment (a file or a directory)
// precedes them.
void set_nvrtc_search_paths(std::vector<std::string> directories);

// The possible files of `soname`, a CUDA library: the same places. The last is the bare name.
[[nodiscard]] std::vector<std::string> library_candidates(const std::string& soname);

// Folders of CUDA's headers (cuda_fp16.h, cooperative_groups.h, …) in the wheels and toolkits at
// the same places.
[[nodiscard]] std::vector<std::string> toolkit_headers();

// The version of the NVRTC that is used, {13, 0}; zeros if there is none.
[[nodiscard]] std::pair<int, int> nvrtc_version();

// Identifies the NVRTC that would be used, by file, size and date: part of every cache key. Does
// not open it, which programs found in the cache do not need.
[[nodiscard]] std::string nvrtc_identity();

// The path of its file; empty if the system's loader would find it.
[[nodiscard]] std::string nvrtc_file();

// A cubin for `architecture`; if NVRTC does not know it yet, PTX that the driver translates.
// LTO-IR, if it is wanted, is for this architecture and later ones. Empty and `error` set, with
// NVRTC's own messages, on failure. Thread-safe; compiles in parallel.
[[nodiscard]] std::string compile_cuda(std::string_view source, const std::string& file_name,
                                       const NvrtcOptions& options, RuntimeError& error);

}  // namespace parpy::cuda
