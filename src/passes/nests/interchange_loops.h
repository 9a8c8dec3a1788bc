// Orders the loops of perfect nests as suits the target, where no result depends on the order.
//
//     for i in range(n):                        for i in range(n):
//         for j in range(m):                        for k in range(l):
//             for k in range(l):        CPU             for j in range(m):
//                 c[i, j] += a[i, k] * b[k, j]              c[i, j] += a[i, k] * b[k, j]
//
// On a CPU the loop whose iterations are closest in memory becomes the innermost one; a loop that
// may run in parallel stays outermost. On a GPU loops of independent iterations surround all
// others, and the innermost of them, which gets the threads, is the one whose iterations are
// closest. Loops are interchanged only if every pair of conflicting iterations keeps its order, so
// results are the same bit for bit. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void interchange_cpu_loops(PassContext& context);
void interchange_cuda_loops(PassContext& context);

}  // namespace parpy
