// Makes every subscript count from the start of its dimension.
//
//     before  y[-1] = x[i - 1] + x[k]          x: f32[10], i in 0 … 9, k unknown
//     after   y[9] = x[index(i - 1, 10)] + x[index(k, 10)]
//
// A subscript whose sign the intervals prove is left alone, or gets the extent added outright. A
// subscript outside of its array stays outside (check_bounds, guard_subscripts report it).
// Before: kTyped, after normalize_loops. After: kLoops.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_indices(PassContext& context);

}  // namespace parpy
