// Puts a loop of one iteration, the worker, around each loop that must run sequentially (`#pragma
// sequential for`) and contains loops or statements over slices: these are its vectors, which a
// block of threads runs.
//
//     label "pragma sequential"         label "pragma parallel"
//     for i in range(n):                for worker in range(1):
//         x[i] = sum(a[i, :i])              label "pragma sequential"
//                                           for i in range(n):
//                                               x[i] = sum(a[i, :i])
//
// Loops inside of other loops with pragmas get none: those have workers. The cost model decides
// whether the worker runs, or the host runs the loop and launches its body. Before and after:
// kSurface.
#pragma once

#include "passes/pass.h"

namespace parpy {

void make_workers(PassContext& context);

}  // namespace parpy
