// Inserts a check before every access whose subscripts the intervals do not prove.
//
//     before  x_value = x[k]                        x: f32[10]
//     after   if k < 0 or k >= 10: fail 0(k, i)      P421, naming subscript, size and iterations
//             x_value = x[k]
//
// An innermost loop whose subscripts all follow the loop's variable is kept without checks beside
// the checked version, and runs if their first and last values are in bounds. A SIMD loop with
// checks becomes sequential, since it may stop anywhere. If races are checked as well,
// instrument_races does this.
//     pre   profile kMapped, after normalize_accesses     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

// Whether subscripts are checked at run time. A kernel written by hand makes no promise about
// subscripts, and on the simulator an access out of bounds would hit memory of the process.
bool checks_subscripts(const PassContext& context);

void instrument_bounds(PassContext& context);

}  // namespace parpy
