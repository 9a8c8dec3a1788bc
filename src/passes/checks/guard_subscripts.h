// Makes an access fail (P421) when it is reached, if a constant subscript of it is out of bounds at
// compile time. An access that is certainly reached has been refused before (check_bounds.h).
//
//     before  if a[0] > 100:               a: f64[4]
//                 a[0] = a[7]
//     after   if a[0] > 100:
//                 fail 0()
//                 a[0] = a[7]
//
// Programs without such a subscript do not change.
//     pre   profile kMapped, not where instrument_bounds runs     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_subscripts(PassContext& context);

}  // namespace parpy
