// Makes two reductions of a search for the best element, which carries the best one so far from
// one iteration to the next: the best value, and the first place that has it.
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
// With `>=` and `<=` it is the last place. The best one so far may be known by its place alone (`if
// x[i] > x[at]: at = i`). Conditions may stand in front of the comparison, and assignments to
// scalars in front of all. Values are computed twice, and have the same bits both times: they are
// elements, arithmetic and roots, and neither `fast_math` nor flags of the user's may fuse them.
// The pass acts where the GPU's cost model finds a tenth of the time to be gained; a thread of a
// CPU is faster with the loop. A NaN is never better, and nothing is better than a NaN, as in the
// loop. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_searches(PassContext& context);

}  // namespace parpy
