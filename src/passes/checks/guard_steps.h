// Makes a range whose step turns out to be zero fail (P425) where the loop would begin.
//
//     before  for j in range(0, n, s): …      after  if s == 0: fail 0()
//                                                    for j in range(0, n, s): …
//
// What only arguments decide is asked in front of the loops around, if they run: once, and by the
// host where those are kernels. Steps that the intervals prove are left alone.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_steps(PassContext& context);

}  // namespace parpy
