// Replaces a floor division by the processor's own where neither operand can be negative.
//
//     before  for k in range(144):         after  for k in range(144):
//                 y[k // 12] = x[k % 12]              y[quotient(k, 12)] = x[remainder(k, 12)]
//
// Python's // and % round towards minus infinity; the processor's agree only for non-negative
// dividends. A divisor of 0, whose result ops.def defines, is undefined for the processor. Before
// and after: kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void simplify_divisions(PassContext& context);

}  // namespace parpy
