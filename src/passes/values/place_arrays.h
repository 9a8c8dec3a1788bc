// Gives the arrays that the program makes for itself the memory that the threads which use them
// share.
//
//     before  for i … [blocks]:                 after  for i … [blocks]:
//                 alloc t: f64[64] local                   alloc t: f64[64] shared
//                 for j … [threads]: t[j] = …              for j … [threads]: t[j] = …
//                 for j … [threads]: y[i, j] = t[63 - j]   for j … [threads]: y[i, j] = t[63 - j]
//
// An array that the threads of a block store to is the block's; one that several kernels use, or
// the host makes, is memory that the call takes at its entry; any other stays with its thread.
//
//     pre   profile kMapped, CUDA levels        post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void place_arrays(PassContext& context);

}  // namespace parpy
