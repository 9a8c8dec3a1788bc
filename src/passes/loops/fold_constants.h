// Evaluates what is constant and removes what cannot run, keeping every result bit for bit.
//
//     before  n: i64 = 4                          after  for i: i64 in range(4):
//             for i: i64 in range(n * 1):                    y[i] = square(x[i])
//                 if 2 < 1: …
//                 else: y[i] = x[i] ** 2.0
//
// Identities are only those that hold for all values, NaN and -0.0 included: x * 1.0 goes, x + 0.0
// stays. Local integers that are assigned once, a constant, are replaced by it.
// A loop whose updates go, because this call's extents leave no iteration to them, say, is marked
// as the reduction that it was (`reduce`). Before and after: kTyped or later, up to kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void fold_constants(PassContext& context);

}  // namespace parpy
