// Binds the parameters of the entry function to the arguments of one call.
//
//     before  entry f(x, n)       signature: f32 array [?, 20], int 5
//     after   entry f(x: f32[x_extent0, 20] @0, x_extent0: i64 @0.extent0)   with  const n: int = 5
//
// A scalar specialised by value becomes Var::constant and is no parameter any more; extents and
// strides that are known only at run time become i64 parameters right after their array. Before and
// after: kSurface. After: every parameter has its type and Origin, every array its dims.
#pragma once

#include "passes/pass.h"

namespace parpy {

void specialize_arguments(PassContext& context);

}  // namespace parpy
