// Brings every return of the entry to its end: what would have been skipped goes into branches, and
// loops are left by break. Code that a kernel takes over as a whole can then be left early.
//
//     before  if n == 0:             for i …:                     after   returned = false
//                 return                 if x[i] < 0:                     for i …:
//             y[0] = 1                       return                           if x[i] < 0:
//                                    y[0] = 1                                     returned = true
//                                                                                 break
//     after   if n == 0: pass                                             if not returned:
//             else: y[0] = 1                                                  y[0] = 1
//
// For returns in `with parpy.gpu`; on a GPU also in the automatic mode, in functions without a
// mapping and with kGpuCode. Other host code returns as it stands, and a return in a loop that the
// user maps is left to map_loops. Before and after: kLoops.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_cpu_returns(PassContext& context);
void normalize_cuda_returns(PassContext& context);

}  // namespace parpy
