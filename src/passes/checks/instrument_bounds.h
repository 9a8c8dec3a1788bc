// Puts a check in front of every access whose subscripts the intervals do not prove.
//
//     before  x_value = x[k]                        x: f32[10]
//     after   if k < 0 or k >= 10: fail 0(k, i)      P421, naming subscript, size and iterations
//             x_value = x[k]
//
// An innermost loop whose subscripts all follow the loop's variable is kept as it is beside the
// checked one, and runs where their first and last values are in bounds. A loop over SIMD lanes in
// which something is checked runs in sequence: it may stop anywhere. Where races are checked too,
// that is left to instrument_races.
//     pre   profile kMapped, after normalize_accesses     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

// Whether subscripts are checked while the program runs. A kernel written by hand promises nothing
// of them, and on the simulator the memory behind an array is the process's own.
bool checks_subscripts(const PassContext& context);

void instrument_bounds(PassContext& context);

}  // namespace parpy
