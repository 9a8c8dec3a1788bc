// Evaluates constant expressions and removes unreachable code, keeping every result bit for bit.
//
//     before  n: i64 = 4                          after  for i: i64 in range(4):
//             for i: i64 in range(n * 1):                    y[i] = square(x[i])
//                 if 2 < 1: …
//                 else: y[i] = x[i] ** 2.0
//
// The pass uses only identities that hold for all values, NaN and -0.0 included: x * 1.0 goes, x +
// 0.0 stays. A local integer whose only assignment is a constant is replaced by the constant. If
// folding removes all updates of a loop (because the extents of this call leave no iteration to
// them, say), the loop stays marked as a reduction (`reduce`). Before and after: kTyped or later,
// up to kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void fold_constants(PassContext& context);

}  // namespace parpy
