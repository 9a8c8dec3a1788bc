// Puts a loop of one iteration, the worker, around each loop that is to run in order
// (`#pragma sequential for`) and has loops or statements over slices inside: these are its vectors,
// which a block of threads runs.
//
//     label "pragma sequential"         label "pragma parallel"
//     for i in range(n):                for worker in range(1):
//         x[i] = sum(a[i, :i])              label "pragma sequential"
//                                           for i in range(n):
//                                               x[i] = sum(a[i, :i])
//
// Not inside of other loops with pragmas, which have workers. The cost model decides whether the
// worker runs, or the host runs the loop and launches what is inside. Before and after: kSurface.
#pragma once

#include "passes/pass.h"

namespace parpy {

void make_workers(PassContext& context);

}  // namespace parpy
