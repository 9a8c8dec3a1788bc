// The machine code of a CUDA program for one architecture, from the kernel cache or from NVRTC.
#pragma once

#include <string>

#include "parpy/options.h"
#include "runtime/executable.h"

namespace parpy::cuda {

// Empty with `error` set on failure.
[[nodiscard]] std::string machine_code(const Program& program, const Options& options,
                                       const std::string& architecture, RuntimeError& error);

}  // namespace parpy::cuda
