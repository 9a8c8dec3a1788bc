// Puts the loops of perfect nests in the order that suits the target, where no result depends on
// the order.
//
//     for i in range(n):                        for i in range(n):
//         for j in range(m):                        for k in range(l):
//             for k in range(l):        CPU             for j in range(m):
//                 c[i, j] += a[i, k] * b[k, j]              c[i, j] += a[i, k] * b[k, j]
//
// CPU: innermost the loop whose iterations lie closest in memory; a loop that may run in parallel
// stays outermost. GPU: loops of independent iterations outside of all others, and innermost among
// them, where the threads are, the one whose iterations lie closest. Loops change places only if
// every pair of conflicting iterations stays in its order, so results are the same bit for bit.
// Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void interchange_cpu_loops(PassContext& context);
void interchange_cuda_loops(PassContext& context);

}  // namespace parpy
