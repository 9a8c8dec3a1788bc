// Merges two perfectly nested loops that may both run in parallel into one loop, where the outer
// one has too few iterations for the cores, or the inner one leaves lanes of a warp idle.
//
//     for i in range(4):                 for i_j in range(24):
//         for j in range(6):                 i = i_j // 6
//             y[i, j] = f(x[i, j])           j = i_j % 6
//                                            y[i, j] = f(x[i, j])
//
// The pass acts only where the numbers of iterations are known and the target's cost model predicts
// that at least a quarter of the time is saved. The merged loop has the labels of both; a mapping
// by hand that names both loops keeps them apart. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void collapse_cpu_loops(PassContext& context);
void collapse_cuda_loops(PassContext& context);

}  // namespace parpy
