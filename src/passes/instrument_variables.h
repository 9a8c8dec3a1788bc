// Fails where a scalar is read that no assignment on the way there has given a value.
//
//     before  if c: s = 1.0                 after   s_set = false
//             y[0] = s                              if c: s = 1.0; s_set = true
//                                                   if not s_set: fail 0()       P423
//                                                   y[0] = s
//
// Only variables that some path leaves without a value are watched.
//     pre   profile kMapped, after normalize_accesses     post   kMapped
#pragma once

#include "pass.h"

namespace parpy {

void instrument_variables(PassContext& context);

}  // namespace parpy
