// Evaluates calls that write arrays, and operands that they may change, in Python's order.
//
//     before  y[c[0]] += bump(c)             bump writes c
//     after   value: i64 = c[0]
//             value_2: i64 = bump(c)
//             y[value] += value_2
//
// C++ leaves the order of most operands open, and later passes hoist bounds of slices and ranges.
// Elements that no call of the statement writes stay where they are, and so do parts of expressions
// that are whole arrays. Before and after: kTyped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void order_calls(PassContext& context);

}  // namespace parpy
