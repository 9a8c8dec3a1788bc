// Takes sums over the rows of an array apart where neighbouring columns lie side by side in memory
// and there are too few of them to occupy a GPU (rfactor, as Halide and TVM call it): blocks of
// rows have partial sums, whose threads walk through memory side by side.
//
//     for i in range(m):                     for j_part in range(8):
//         total = 0.0                            for i_part in range(m):
//         for j in range(n):                         partial = -0.0
//             total += a[j, i]                       for j in range(n // 8 * j_part, …):
//         s[i] = total                                   partial += a[j, i]
//                                                    partials[j_part, i_part] = partial
//                                            for i in range(m):
//                                                total = 0.0
//                                                for j_part in range(8):
//                                                    total += partials[j_part, i]
//                                                s[i] = total
//
// Every operator of a reduction, several targets, and statements in front of the sums, which get a
// nest of their own where the sums need them. Only where iterations of the outer loop are
// independent, the numbers of iterations are known, and the target's cost model finds a tenth of
// the time to be gained. Sums are added up in another order, as wherever the threads of a GPU
// reduce: not under `deterministic`. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void factor_reductions(PassContext& context);

}  // namespace parpy
