// CUDA's part of load(): makes a module on the GPU of the device text, and code of the host text.
#pragma once

#include <memory>

#include "runtime/executable.h"

namespace parpy {

// nullptr and `error` set on failure: no driver, no device, no NVRTC, text that does not compile.
[[nodiscard]] std::shared_ptr<Executable> load_cuda(const Program& program, const Options& options,
                                                    RuntimeError& error);

}  // namespace parpy
