// Makes one loop of two that stand directly in each other and may both run in parallel, where the
// outer one has too few iterations for the cores, or the inner one leaves lanes of a warp idle.
//
//     for i in range(4):                 for i_j in range(24):
//         for j in range(6):                 i = i_j // 6
//             y[i, j] = f(x[i, j])           j = i_j % 6
//                                            y[i, j] = f(x[i, j])
//
// Only where the numbers of iterations are known and the target's cost model finds at least
// a quarter of the time to be gained. The loop has the labels of both; a mapping by hand that names
// both keeps them apart.
// Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void collapse_cpu_loops(PassContext& context);
void collapse_cuda_loops(PassContext& context);

}  // namespace parpy
