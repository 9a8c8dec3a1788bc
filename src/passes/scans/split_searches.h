// Splits a search for the best element, a recurrence over the iterations, into two reductions: the
// best value, and the first place that has it.
//
//     for i in range(n):                     value = best
//         if x[i] > best:                    for i in range(n): value = max(value, x[i])
//             best = x[i]                    place = 2**63 - 1
//             at = i                         for i in range(n):
//                                                if x[i] == value: place = min(place, i)
//                                            if value > best:
//                                                best = x[place]
//                                                at = place
//
// The second reduction finds the last place for `>=` and `<=`. The search may keep only the place
// of the best element (`if x[i] > x[at]: at = i`). Conditions may precede the comparison, and
// assignments to scalars may precede both. Values are computed twice with the same bits: they are
// elements, arithmetic and roots, and neither `fast_math` nor flags of the user's may fuse them.
// The pass acts where the GPU's cost model predicts a gain of a tenth of the time; a thread of a
// CPU is faster with the loop. As in the loop, no NaN is better than another value, and no value is
// better than a NaN. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_searches(PassContext& context);

}  // namespace parpy
