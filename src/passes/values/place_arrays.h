// Chooses for the arrays that the program allocates the memory that is visible to all threads that
// use them.
//
//     before  for i … [blocks]:                 after  for i … [blocks]:
//                 alloc t: f64[64] local                   alloc t: f64[64] shared
//                 for j … [threads]: t[j] = …              for j … [threads]: t[j] = …
//                 for j … [threads]: y[i, j] = t[63 - j]   for j … [threads]: y[i, j] = t[63 - j]
//
// An array that the threads of a block store to is in the block's shared memory; one that several
// kernels use, or the host makes, is allocated at the entry of the call; others stay with their
// thread.
//
//     pre   profile kMapped, CUDA levels        post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void place_arrays(PassContext& context);

}  // namespace parpy
