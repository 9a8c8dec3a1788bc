// Makes a loop whose run-time step is zero fail (P425) where it would begin.
//
//     before  for j in range(0, n, s): …      after  if s == 0: fail 0()
//                                                    for j in range(0, n, s): …
//
// A step that only arguments determine is checked once, before the loops around it, if these run;
// so the host checks it if they are kernels. Steps that the intervals prove non-zero are left
// alone.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_steps(PassContext& context);

}  // namespace parpy
