// Gives what run-time checks watch a statement of its own: every load and call, and every part of a
// condition that may not be evaluated. A check in front of a statement then runs exactly when what
// it checks does.
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
// made once more in front.
//     pre   profile kMapped     post   kMapped; loads and calls are the whole value of an
//     assignment, or stand in the subscripts of a reduced element
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_accesses(PassContext& context);

}  // namespace parpy
