// Lets kernels start while the preceding ones end, in programs that launch several: each kernel
// begins by waiting for the kernels before it. The start of a kernel then costs no time between two
// of them.
//
//     before  for t in range(9): launch f(x); launch g(x)      kernel f(x): …
//     after   for t in range(9): launch f(x) overlapped; …     kernel f(x): barrier stream; …
//
//     pre   profile kTarget, CUDA                            post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void overlap_launches(PassContext& context);

}  // namespace parpy
