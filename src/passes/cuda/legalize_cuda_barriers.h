// Puts barriers between statements of a block that different threads run and that access the same
// memory, at least one of them writing. There is none where each thread accesses only its own
// elements again, and none between iterations of parallel loops, which are independent.
//
//     before  for i … [threads]: y[i] = x[i]       after   for i … [threads]: y[i] = x[i]
//             z[0] = y[5]                                  barrier block
//                                                          z[0] = y[5]
//
//     pre   profile kKernels, CUDA, reductions legalised        post   the same with barriers
#pragma once

#include "passes/pass.h"

namespace parpy {

void legalize_cuda_barriers(PassContext& context);

}  // namespace parpy
