// Watches the elements that parallel loops store to, and runs those loops sequentially, so that
// every run finds the same races.
//
//     before  for i in range(n): [workers]      y_value = y[i - 1];  y[i] = y_value
//     after   for i in range(n):                clock += …
//                 if u64(y_writes[i - 1] - i_start) < clock - i_start: fail 1(…)      P422
//                 …                             y_value = y[i - 1]
//                 …                             y_writes[i] = clock + 2
//
// Each iteration of a parallel loop has a stamp of its own. Every watched element has two marks per
// depth of parallel loops: the stamp and place of its last write, and of the first read after which
// other iterations must not write. A mark made since the loop began, but before this iteration,
// belongs to an iteration that may run at the same time. Updates that a loop reduces do not
// conflict in that loop. Functions called with watched arrays are copied; the copies watch them,
// too.
//     pre   profile kMapped, after instrument_bounds     post   kMapped, every loop sequential
#pragma once

#include "passes/pass.h"

namespace parpy {

void instrument_races(PassContext& context);

}  // namespace parpy
