// Counts in 32 bits where that suffices, since 64-bit integer arithmetic is slow on GPUs.
//
//     before  for i: i64 in range(1000):            after  for i: i32 in range(1000i32):
//                 y[i * 2 + 1] = f32(i)                        y[i * 2i32 + 1i32] = f32(i64(i))
//
// A loop variable becomes i32 if all its values, and the one after the last, fit; so do integers
// that are computed from such variables and constants alone and are used in subscripts. Index
// arithmetic becomes i32 where every intermediate value fits. Values that are data keep their
// 64-bit meaning. Extents and strides passed at run time are i32 if the arrays are small
// (Var::limit); then so are the offsets of their elements.
// Before and after: kLoops or kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void narrow_indices(PassContext& context);

}  // namespace parpy
