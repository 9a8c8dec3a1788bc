// See fuse_outer_loops.h.
#include "passes/nests/fuse_outer_loops.h"

#include "passes/nests/fusion.h"

namespace parpy {

void fuse_cpu_outer_loops(PassContext& context) {
    fuse_nests(context, FusedLoops::kRows);
}

void fuse_cuda_outer_loops(PassContext& context) {
    fuse_nests(context, FusedLoops::kOuter);
    fuse_nests(context, FusedLoops::kFasterRows);
}

}  // namespace parpy
