// See fuse_loops.h.
#include "passes/nests/fuse_loops.h"

#include "passes/nests/fusion.h"

namespace parpy {

void fuse_loops(PassContext& context) {
    fuse_nests(context, FusedLoops::kAll);
}

}  // namespace parpy
