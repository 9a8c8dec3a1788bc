// Splits a loop that updates elements at places that data decide, such as a histogram, into blocks
// of iterations that run in parallel: each block updates an array of its own, and these are added
// up.
//
//     for i in range(n):                 for b in range(16):
//         counts[k[i]] += 1                  alloc own: i64[64] local
//                                            for e in range(64):
//                                                own[e] = 0
//                                            for i in block b:
//                                                own[k[i]] += 1
//                                            for e in range(64):
//                                                parts[b, e] = own[e]
//                                        for b in range(16):
//                                            for e in range(64):
//                                                counts[e] += parts[b, e]
//
// Only for updates of integers, whose order does not matter: results are the same bit for bit. The
// array must be small, so that atomic updates by all workers would collide, and the cost model must
// predict a gain of a tenth of the time. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_updates(PassContext& context);

}  // namespace parpy
