// opts.libs and opts.extra_flags in the form for compilers in this process. The flags are those of
// a compiler driver (nvcc, clang++): linker flags become libraries, and flags without a meaning for
// in-process compilation are dropped.
#pragma once

#include <string>
#include <vector>

#include "parpy/options.h"

namespace parpy {

struct UserFlags {
    std::vector<std::string> compiler;
    std::vector<std::string> libraries;  // files, or names for the loader
};

// libs: libraries, and directories that are searched for -lNAME flags.
[[nodiscard]] UserFlags user_flags(const Options& options);

}  // namespace parpy
