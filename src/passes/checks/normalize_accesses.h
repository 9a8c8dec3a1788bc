// Gives every load, every call, and every part of a condition that may not be evaluated, a
// statement of its own, for the run-time checks. A check before a statement then runs exactly when
// the access runs.
//
//     before  while i < n and x[i] > 0:            y[k] = x[i] * x[j]
//     after   while true:                          x_value = x[i]
//                 test = i < n                     x_value_1 = x[j]
//                 if test:                         y[k] = x_value * x_value_1
//                     x_value = x[i]
//                     test = x_value > 0
//                 if not test: break
//
// The subscripts of a reduced element stay as the loop's mapping has them; the loads in them are
// repeated in statements before it.
//     pre   profile kMapped     post   kMapped; every load and call is the whole value of an
//     assignment, or part of a subscript of a reduced element
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_accesses(PassContext& context);

}  // namespace parpy
