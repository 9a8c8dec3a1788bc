// Splits nests so that wherever several blocks work below a loop, they work on one loop alone:
// blocks of a kernel cannot wait for each other, but the next kernel waits for all of them.
//
//     before  for i … [blocks]:  y[i] = 0;  for j … [threads, 4 blocks]: y[i] += x[i, j]
//     after   for i … [threads]: y[i] = 0
//             for i … [blocks]:  for j … [threads, 4 blocks]: y[i] += x[i, j]
//
//     pre   profile kMapped, CUDA levels        post   kMapped; the loops of a kernel that spread
//     over blocks form a chain, each alone in the one around it but for scalar definitions before
//     it
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_kernels(PassContext& context);

}  // namespace parpy
