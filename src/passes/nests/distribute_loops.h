// Makes several nests of one that may not run in parallel, where a part of its statements may: the
// others no longer stand in its way.
//
//     for i in range(1, n):              for i in range(1, n):
//         a[i] = a[i - 1] + x[i]             a[i] = a[i - 1] + x[i]
//         y[i] = exp(a[i]) * x[i]        for i in range(1, n):
//                                            y[i] = exp(a[i]) * x[i]
//
// Only perfect nests, and where the target's cost model finds what is gained to be half of the time
// or more: all parts walk through the iterations anew. No conflicting iterations change their
// order, so results are the same bit for bit. Loops that may not run in parallel lose their labels:
// a mapping by hand means the others. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void distribute_cpu_loops(PassContext& context);
void distribute_cuda_loops(PassContext& context);

}  // namespace parpy
