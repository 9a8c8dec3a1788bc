// The CUDA side of load(): device text to a module on the GPU, host text to code that launches it.
#pragma once

#include <memory>

#include "runtime/executable.h"

namespace parpy {

// nullptr and `error` set on failure: no driver, no device, no NVRTC, text that does not compile.
[[nodiscard]] std::shared_ptr<Executable> load_cuda(const Program& program, const Options& options,
                                                    RuntimeError& error);

}  // namespace parpy
