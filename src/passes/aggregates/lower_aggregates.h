// Replaces tuples, objects, None, functions, texts, types and operations on them by operations on
// the numbers and arrays that they consist of.
//
//     before  p = tuple(a, x[i])                after  p_0 = a
//             q = swap(p)                              p_1 = x[i]
//             y[i] = item(q, 0)                        swap_0 = p_1
//             helper swap(t):                          swap_1 = p_0
//                 return tuple(item(t, 1), …)          y[i] = swap_0
//
// A tuple variable becomes a variable for each number or array in the tuple. Functions are
// specialised by the kinds of their arguments; the body of a function that returns a tuple is
// inlined. An object is its attributes; its methods get it as first argument. A loop over a tuple
// is unrolled if its elements cannot be chosen at run time. A call of a function value calls the
// function, with the captured variables as further arguments. Conditions on None, texts and types
// are decided, and dead branches dropped. The entry stores its results to arrays of one element,
// its last parameters; Function::result_form has their structure.
//
// Before: kSurface, the entry's parameters with types. After: kSurface, without the
// operators of is_aggregate (ir/ops.h).
#pragma once

#include "passes/pass.h"

namespace parpy {

// The index of a kSelect that chooses an element of a tuple. Outside of the loops of the entry
// Python chooses among numbers of several types; elsewhere they have one type, which must hold
// them.
inline constexpr int kChoosesItem = 1, kChoosesItemOfOneType = 2;

void lower_aggregates(PassContext& context);

}  // namespace parpy
