// Moves scalar host code into Gpu blocks if it computes scalars that kernels read from scalars that
// are on the GPU, so that the host need not wait for these.
//
//     before  for i … [64]: s += x[i]          after   for i … [64]: s += x[i]
//             alpha = r / s                            gpu: alpha = r / s
//             for i … [64]: y[i] *= alpha              for i … [64]: y[i] *= alpha
//
// Values that decide the host's control flow stay on the host, which waits for them anyway.
#pragma once

#include "ir/ir.h"

namespace parpy {

// Mapped loops are those that are parallel().
void put_scalars_on_gpu(ir::Module& module);

// Merges a loop that reduces and the Gpu blocks beside it into one kernel: all blocks of threads
// compute the scalars that the loop needs, and the last one to end runs the code behind it.
//
//     before  gpu: s = r[k]                    after   gpu: s = r[k]
//             for i … [64]: s += x[i]                       for i … [64]: s += x[i]
//             gpu: alpha = -s / beta                        alpha = -s / beta
//
//     pre   loops have their levels and reductions
void join_scalar_blocks(ir::Module& module);

}  // namespace parpy
