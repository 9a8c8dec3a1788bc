// Counts in 32 bits where that is enough: GPUs have no 64-bit integer arithmetic to speak of.
//
//     before  for i: i64 in range(1000):            after  for i: i32 in range(1000i32):
//                 y[i * 2 + 1] = f32(i)                        y[i * 2i32 + 1i32] = f32(i64(i))
//
// A loop variable becomes i32 if all its values, and the one after the last, fit; so do integers
// that only such variables and constants go into and that subscripts are made of. Index arithmetic
// follows where every intermediate value fits. Values that are data keep their 64-bit meaning.
// Extents and strides passed at run time are i32 where the arrays are small (Var::limit): so is
// the way to each of their elements.
// Before and after: kLoops or kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void narrow_indices(PassContext& context);

}  // namespace parpy
