// Splits a loop whose iterations pass on a sum, a count or another associative result (a prefix
// sum, or scan) into loops over blocks of iterations: each block is reduced to one value, those
// values give the value before each block, and then all blocks run the loop's text independently.
//
//     for i in range(n):                 for b in range(blocks):
//         if x[i] > 0.0:                     part = 0
//             y[k] = x[i]                    for i in block b:
//             k += 1                             if x[i] > 0.0: part += 1
//                                            parts[b] = part
//                                        for b in range(blocks):
//                                            starts[b] = k
//                                            k += parts[b]
//                                        for b in range(blocks):
//                                            k_b = starts[b]
//                                            for i in block b:
//                                                if x[i] > 0.0:
//                                                    y[k_b] = x[i]
//                                                    k_b += 1
//
// The second loop is a scan as well; if it is long, it is split again. Updates may be conditional
// and use any associative operator, but their operands and conditions must not depend on the
// results before them. A store whose subscript is such a count, as above, never meets the store of
// another iteration if each run of it advances the count; the loop over blocks says so
// (For::disjoint), because no analysis of the new text could find it. Sums of floats change their
// order: not under `deterministic`. The pass acts where the target's cost model predicts a gain of
// a tenth of the time. Before and after: kLoops, no loop is mapped.
//
// Source: reduce-then-scan; Blelloch, Prefix Sums and Their Applications, CMU-CS-90-190, 1990.
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_scans(PassContext& context);

}  // namespace parpy
