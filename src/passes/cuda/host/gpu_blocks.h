// Puts array code outside of the mapped loops into Gpu blocks: in the automatic mode, and for
// mappings with kGpuCode.
//
//     before  x[0] = 1; y[0] = 2               after   gpu: x[0] = 1; y[0] = 2
//             while x[0] > 0: for i … [64]             while true:
//                                                          gpu: condition = x[0] > 0
//                                                          if not condition: break
//                                                          for i … [64]
#pragma once

#include "ir/ir.h"

namespace parpy {

// Mapped loops are those that are parallel().
void put_arrays_on_gpu(ir::Module& module);
// The same for host code that contains nothing but `body`.
void put_arrays_on_gpu(ir::Module& module, ir::Body& body);

}  // namespace parpy
