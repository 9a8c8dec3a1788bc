// Spells a floor division as the processor's own where neither side can be negative.
//
//     before  for k in range(144):         after  for k in range(144):
//                 y[k // 12] = x[k % 12]              y[quotient(k, 12)] = x[remainder(k, 12)]
//
// Python's // and % round towards minus infinity, which the processor's do for dividends from 0 on
// alone; and a divisor of 0, which has a meaning here (ops.def), is none there. Before and after:
// kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void simplify_divisions(PassContext& context);

}  // namespace parpy
