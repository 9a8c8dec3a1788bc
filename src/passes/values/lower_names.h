// Replaces names of arrays by the arrays that they refer to.
//
//     before  bind row: f64[1] = x[i, 1:]       after  row_at0: i64 = i
//             make t: f64[1] = row[:] * 2.0            alloc t: f64[9] local
//             out[i] = t[0] + row[k]                   t[:] = x[row_at0, 1:+9:1] * 2.0
//                                                      out[i] = t[0] + x[row_at0, index(k, 9) + 1]
//
// A name of elements has one subscript for each dimension of their array: a fixed one, or the place
// of the name's first element and the distance of its elements, in variables unless they are
// constants. A name of values is an array of its own: the thread's if it is small and in a loop or
// helper, otherwise memory that the call allocates at its entry.
//
// Before: kValues. After: kTyped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_names(PassContext& context);

}  // namespace parpy
