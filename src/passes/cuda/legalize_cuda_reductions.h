// Implements reductions for the threads of a GPU, and makes updates plain assignments. Each thread
// accumulates in a register; a warp combines by shuffles, a block through shared memory, blocks
// through one partial value each in device memory, which the last block to arrive combines in a
// fixed order: the same call gives the same bits. With use_cuda_thread_block_clusters, blocks that
// fit into a cluster read each other's shared memory instead.
//
//     before  for j … [threads, reduce(+ s)]: s += x[j]
//     after   s_partial = 0.0;  for j … [threads]: s_partial = s_partial + x[j]
//             s_partial = warp_sum(s_partial);  …;  s = s + s_partial
//
//     pre   profile kKernels, CUDA levels       post   kKernels without reductions and updates;
//     code that differs between threads is in thread loops and in ifs on thread registers
#pragma once

#include "passes/pass.h"

namespace parpy {

void legalize_cuda_reductions(PassContext& context);

}  // namespace parpy
