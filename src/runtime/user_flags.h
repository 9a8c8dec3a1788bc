// opts.libs and opts.extra_flags as compilers that run in this process take them. Flags are those
// of a compiler driver (nvcc, clang++): what is about linking becomes libraries, what in-process
// compilation has no use for is dropped.
#pragma once

#include <string>
#include <vector>

#include "parpy/options.h"

namespace parpy {

struct UserFlags {
    std::vector<std::string> compiler;
    std::vector<std::string> libraries;  // files, or names for the loader
};

// libs: libraries, and directories in which those of -lNAME flags are looked for.
[[nodiscard]] UserFlags user_flags(const Options& options);

}  // namespace parpy
