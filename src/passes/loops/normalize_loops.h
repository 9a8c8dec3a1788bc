// Makes every loop variable private to its loop: only the loop assigns it, and no statement behind
// the loop reads it.
//
//     before  for i in range(n):            after  for i_1 in range(n):
//                 i += 1                               i = i_1
//             s = i                                    i += 1
//                                                  s = i
//
// Before: kTyped. After: kLoops, but for negative subscripts (normalize_indices).
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_loops(PassContext& context);

}  // namespace parpy
