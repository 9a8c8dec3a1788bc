// The implementation of fuse_loops and fuse_outer_loops.
#pragma once

#include <cstdint>

#include "passes/pass.h"

namespace parpy {

enum class FusedLoops : std::uint8_t {
    kAll,    // whole perfect nests
    kOuter,  // independent loops around the rest of a nest, in a loop that may run in parallel
    kRows,   // the same at the top of the entry, where both nests share a large array in small rows
    kFasterRows,  // the same where the GPU's cost model does not predict a loss
};

void fuse_nests(PassContext& context, FusedLoops which);

}  // namespace parpy
