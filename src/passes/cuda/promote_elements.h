// Keeps array elements that a thread accesses in several of its loops in a local array, which
// becomes registers once the loops are unrolled (scalar replacement). A load of an element that the
// same thread has loaded or stored before reads the copy; a store that the same thread overwrites
// later, with no read in between, is removed, and so are scratch arrays that are then never loaded.
//
//     before  for j in range(thread.x, 512, 32): y[j] = f(x[j]);  s = s + y[j]
//             …
//             for k in range(thread.x, 512, 32): y[k] = y[k] / s
//     after   for q in range(16) [unroll]: j = thread.x + q * 32;  y_kept[q] = f(x[j]);  …
//             …
//             for q in range(16) [unroll]: k = thread.x + q * 32;  y[k] = y_kept[q] / s
//
//     pre   profile kTarget, CUDA                            post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void promote_elements(PassContext& context);

}  // namespace parpy
