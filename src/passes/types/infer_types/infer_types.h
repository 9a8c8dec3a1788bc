// Gives every expression and variable its type by the rules of NumPy >= 2, and makes conversions
// explicit.
//
//     before  def f(x: f32[1], n: int)         after  def f(x: f32[1], n: i64)
//                 s = 0.0                                 s = 0.0: f32
//                 for i in range(n):                      for i in range(0, n, 1):
//                     s += x[i] * 2                           s += x[i] * 2.0: f32
//
// Functions are specialised: one for each callee and combination of argument types and layouts. A
// name with several independent values becomes several variables (t, t_1).
//
// Before: kSurface, entry parameters bound (specialize_arguments). After: kTyped; Var::written and
// Var::aliased of parameters hold; unreachable statements and uncalled helpers are gone.
#pragma once

#include "passes/pass.h"

namespace parpy {

void infer_types(PassContext& context);

}  // namespace parpy
