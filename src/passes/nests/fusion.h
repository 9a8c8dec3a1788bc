// The implementation of fuse_loops and fuse_outer_loops.
#pragma once

#include <cstdint>

#include "passes/pass.h"

namespace parpy {

enum class FusedLoops : std::uint8_t {
    kAll,    // whole perfect nests
    kOuter,  // independent loops around the rest of a nest, in a loop that may run in parallel
};

void fuse_nests(PassContext& context, FusedLoops which);

}  // namespace parpy
