// Splits a nest that may not run in parallel into several, where a part of its statements may run
// in parallel without the rest.
//
//     for i in range(1, n):              for i in range(1, n):
//         a[i] = a[i - 1] + x[i]             a[i] = a[i - 1] + x[i]
//         y[i] = exp(a[i]) * x[i]        for i in range(1, n):
//                                            y[i] = exp(a[i]) * x[i]
//
// The pass acts only on perfect nests, and where the target's cost model predicts that at least
// half of the time is saved, as every part repeats the iterations. Conflicting iterations keep
// their order, so results are the same bit for bit. Loops that may not run in parallel lose their
// labels: a mapping by hand means the parallel ones. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void distribute_cpu_loops(PassContext& context);
void distribute_cuda_loops(PassContext& context);

}  // namespace parpy
