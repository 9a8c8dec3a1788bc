// The last pass of the CPU back end: reductions over worker threads become one partial result per
// chunk, which the host combines in the order of the chunks, so that results do not depend on
// timing; elements that a loop reduces become scalars; updates become plain assignments.
//
//     before  launch f_i(x, s) iterations=n     kernel: for i …: [workers, reduce + s]  s += x[i]
//     after   launch f_i(x, s_parts) iterations=n, chunks=c;  for k in range(c): s = s + s_parts[k]
//             kernel: s = 0; for i …: [vector, reduce + s] s = s + x[i];  s_parts[chunk] = s
//
//     pre   profile kKernels      post   profile kTarget
#pragma once

#include "passes/pass.h"

namespace parpy {

void legalize_cpu(PassContext& context);

}  // namespace parpy
