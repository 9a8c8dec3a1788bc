// Moves every return of the entry to its end: branches skip the statements that the return would
// skip, and `break` leaves loops. Code that becomes a kernel as a whole can then be left early.
//
//     before  if n == 0:             for i …:                     after   returned = false
//                 return                 if x[i] < 0:                     for i …:
//             y[0] = 1                       return                           if x[i] < 0:
//                                    y[0] = 1                                     returned = true
//                                                                                 break
//     after   if n == 0: pass                                             if not returned:
//             else: y[0] = 1                                                  y[0] = 1
//
// The pass rewrites returns in `with parpy.gpu`; on a GPU also in the automatic mode, in functions
// without a mapping and with kGpuCode. Other host code keeps its returns, and map_loops judges a
// return in a loop that the user maps. Before and after: kLoops.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_cpu_returns(PassContext& context);
void normalize_cuda_returns(PassContext& context);

}  // namespace parpy
