// Makes an access fail (P421) where it is reached although a constant subscript of it is outside of
// its array, as it is known to be when the program is compiled. An access that is certainly reached
// has been refused before (check_bounds.h).
//
//     before  if a[0] > 100:               a: f64[4]
//                 a[0] = a[7]
//     after   if a[0] > 100:
//                 fail 0()
//                 a[0] = a[7]
//
// Never changes programs without such a subscript.
//     pre   profile kMapped, not where instrument_bounds runs     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_subscripts(PassContext& context);

}  // namespace parpy
