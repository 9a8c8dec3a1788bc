// The CPU's part of load(): the program is its host part.
#pragma once

#include <memory>

#include "runtime/executable.h"

namespace parpy {

// nullptr and `error` set on failure.
[[nodiscard]] std::shared_ptr<Executable> load_cpu(const Program& program, const Options& options,
                                                   RuntimeError& error);

}  // namespace parpy
