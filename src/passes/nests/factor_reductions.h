// Splits sums over the rows of an array into partial sums of blocks of rows (rfactor in Halide and
// TVM), where neighbouring columns are contiguous in memory and there are too few of them to occupy
// a GPU. The threads of a block of rows then read contiguous memory.
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
// The nest in front that makes the elements (a[j, i] = …) is moved into the partial sums, which
// then load them once. A reduction may use any operator and have several targets; statements that
// precede the sums get a nest of their own if the sums need them. The pass acts only where
// iterations of the outer loop are independent, the numbers of iterations are known, and the
// target's cost model predicts a gain of a tenth of the time. Pragmas that request sizes or an
// order keep their loops. The order of the additions changes, as in every reduction by GPU threads:
// not under `deterministic`. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void factor_reductions(PassContext& context);

}  // namespace parpy
