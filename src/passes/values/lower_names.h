// Replaces names of arrays by the arrays that they stand for.
//
//     before  bind row: f64[1] = x[i, 1:]       after  row_at0: i64 = i
//             make t: f64[1] = row[:] * 2.0            alloc t: f64[9] local
//             out[i] = t[0] + row[k]                   t[:] = x[row_at0, 1:+9:1] * 2.0
//                                                      out[i] = t[0] + x[row_at0, index(k, 9) + 1]
//
// A name of elements is one subscript of their array for each dimension: a fixed one, or where
// the name's first element lies and how far apart two of its elements do, in variables where they
// are no constants. A name of values is an array of its own: the thread's where it is small and
// stands in a loop or helper, else memory that the call takes at its entry.
//
// Before: kValues. After: kTyped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_names(PassContext& context);

}  // namespace parpy
