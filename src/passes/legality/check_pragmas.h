// Refuses false pragmas: loops that they declare parallel and whose iterations depend on each
// other. The loops are mapped and judged like those of a mapping by hand, in a copy of the program;
// the automatic mode decides later whether they pay, since it restructures loops first.
//
//     #pragma parallel for
//     for i in range(1, 9): a[i] = a[i - 1]
//     error[P401]: loop 'i' cannot run in parallel: iteration i=1 writes a[1], iteration i=2 reads
//     a[1]
//
// Loops whose iterations depend on each other by a variable that their pragma shares run in order.
//
//     before  label "pragma parallel shared=last"   after  label "pragma sequential"
//             for i in range(n): last = i                  for i in range(n): last = i
//
// So do loops whose iterations share memory that the compiler allocates for their values (P313).
//
// Before and after: kLoops; conditions on run-time arguments become requirements of the module.
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_pragmas(PassContext& context);

}  // namespace parpy
