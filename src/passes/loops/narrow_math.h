// Computes in f32 the values that are computed in f64 and then rounded to f32.
//
//     before  y[i] = f32(exp(f64(x[i])))      after  y[i] = exp(x[i])       (x, y: f32)
//
// math.f works on Python floats, so `y_f32[i] = math.exp(x_f32[i])` means a double-precision
// function of a float32. + - * / and sqrt give the same bits in f32 (53 >= 2 * 24 + 2 bits:
// rounding twice is harmless), and so do operators that do not round. The elementary functions
// listed in the source stay within one unit in the last place of f32, as NumPy's own float32
// functions do. Functions that lose more near a pole or a zero (tan, lgamma, pow, …) are left
// alone. Before and after: kTyped or later, up to kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void narrow_math(PassContext& context);

}  // namespace parpy
