// Refuses calls in which a subscript is certainly out of bounds.
//
//     for i in range(11): y[i] = 0          y: f32[10]
//     error[P405]: subscript 10 is out of bounds for axis 0 of 'y', whose size is 10, in iteration
//     i=10
//
// A subscript is certainly out of bounds if it, the loop bounds and the conditions around it are
// linear in loop variables and values of the call, and no data can skip it. Extents that are
// run-time values become requirements of the module instead. Never changes statements.
// Before and after: kLoops. Options::legality 'trust' skips it.
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_bounds(PassContext& context);

}  // namespace parpy
