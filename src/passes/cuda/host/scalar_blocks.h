// Puts scalar code of the host into Gpu blocks where it computes, from values that are on the GPU,
// others that kernels read: so that the host need not wait for the former.
//
//     before  for i … [64]: s += x[i]          after   for i … [64]: s += x[i]
//             alpha = r / s                            gpu: alpha = r / s
//             for i … [64]: y[i] *= alpha              for i … [64]: y[i] *= alpha
//
// Values that decide which way the host goes stay with the host, which waits for them anyway.
#pragma once

#include "ir/ir.h"

namespace parpy {

// Mapped loops are those that are parallel().
void put_scalars_on_gpu(ir::Module& module);

// Makes one kernel of a loop that reduces and the Gpu blocks beside it: all blocks of threads make
// the scalars that are wanted before it, and the last one runs the code behind it.
//
//     before  gpu: s = r[k]                    after   gpu: s = r[k]
//             for i … [64]: s += x[i]                       for i … [64]: s += x[i]
//             gpu: alpha = -s / beta                        alpha = -s / beta
//
//     pre   loops have their levels and reductions
void join_scalar_blocks(ir::Module& module);

}  // namespace parpy
