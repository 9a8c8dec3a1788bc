// Makes every loop over the CPU's worker threads a kernel of its own: a function that runs the
// iterations [begin, end) of the loop's count, launched by the entry.
//
//     before  for i in range(n): [workers]  y[i] += x[i]
//     after   launch f_i(x, y) iterations=n
//             kernel f_i(x, y, begin, end, chunk):  for i in range(begin, end): [workers]  …
//
//     pre   profile kMapped; loops of level kWorkers are outermost     post   profile kKernels;
//     each kernel is one loop of level kWorkers, which keeps its reductions for legalize_cpu. Loops
//     that are left early, and parallel loops of helper functions, run where they stand.
#pragma once

#include "passes/pass.h"

namespace parpy {

void outline_workers(PassContext& context);

}  // namespace parpy
