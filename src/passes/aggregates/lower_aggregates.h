// Replaces tuples, objects, None, functions, texts, types and what is asked of them by the numbers
// and arrays that they consist of.
//
//     before  p = tuple(a, x[i])                after  p_0 = a
//             q = swap(p)                              p_1 = x[i]
//             y[i] = item(q, 0)                        swap_0 = p_1
//             helper swap(t):                          swap_1 = p_0
//                 return tuple(item(t, 1), …)          y[i] = swap_0
//
// A name of a tuple is a name for each number or array in it; functions are made once for each
// combination of kinds that they get, and the statements of one that returns a tuple stand in place
// of its call. An object is its attributes; its methods get it first. A loop over a tuple of
// which an element cannot be chosen when the program runs is written out. A call of a function
// value calls the function, with what that reads as further arguments. Conditions on None, texts
// and types are decided, the branches ruled out dropped. What the entry returns is stored to arrays
// of one element, its last parameters; the form of the result is Function::result_form.
//
// Before: kSurface, the entry's parameters with types. After: kSurface; none of the
// operators of is_aggregate (ir/ops.h).
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_aggregates(PassContext& context);

}  // namespace parpy
