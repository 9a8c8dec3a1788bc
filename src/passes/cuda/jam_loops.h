// Interleaves several iterations of a thread where a sequential loop inside loads an element that
// they share (unroll and jam): it is loaded once for all of them.
//
//     before  for i in range(40) [blocks 10]: for j in range(64) [threads 32]:
//                 for k in range(l): c[i, j] += a[i, k] * b[k, j]
//     after   for i_first in range(10) [blocks 10]: for j_first in range(32) [threads 32]:
//                 for i_copy in range(4) [unroll]: for j_copy in range(2) [unroll]:
//                     i = i_first + i_copy * 10;  j = j_first + j_copy * 32
//                     c_kept[i_copy, j_copy] = c[i, j]
//                 for k in range(l):
//                     for i_copy … for j_copy … c_kept[i_copy, j_copy] += a[i, k] * b[k, j]
//                 for i_copy … for j_copy … c[i, j] = c_kept[i_copy, j_copy]
//
// The order of the updates of an element is kept, so results are the same bit for bit.
//     pre   profile kKernels, CUDA                            post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void jam_loops(PassContext& context);

}  // namespace parpy
