// Gives each parallel loop of a kernel its hardware index, and makes block-level stores once per
// block. A loop with as many threads as iterations becomes a guard, any other a strided loop; if
// neighbouring iterations over blocks load the same elements, each block gets consecutive ones.
//
//     before  for i in range(n) [threads, 128 in 8 blocks]: y[i] = x[i]
//     after   i = block.x * block_dim.x + thread.x          for i in range(…, n, 1024): y[i] = x[i]
//             if i < n: y[i] = x[i]                         (more iterations than threads)
//
//     before  z[0] = y[5]                         after     if thread.x == 0: z[0] = y[5]
//
//     pre   profile kKernels, CUDA, reductions and barriers legalised        post   profile kTarget
#pragma once

#include "passes/pass.h"

namespace parpy {

void legalize_cuda_loops(PassContext& context);

}  // namespace parpy
