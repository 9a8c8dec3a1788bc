// The automatic mode: maps the loops that may run in parallel, where the cost model
// (mapping/plan.h) predicts a gain.
//
//     for i in range(n):                        for i in range(n): [threads(n)]
//         for j in range(m):          CPU           for j in range(m): [threads(m), reduce]
//             y[i] += x[i, j]
//
// CUDA: array code outside of the chosen loops moves into Gpu blocks. A legality that depends on
// run-time arguments becomes a requirement of the module, as in check_legality.
// Before and after: kLoops; the user's mapping is empty.
#pragma once

#include "passes/pass.h"

namespace parpy {

void choose_cpu_mapping(PassContext& context);
void choose_cuda_mapping(PassContext& context);

// If the automatic choice fails, the program is compiled without it: notes the first error of the
// attempt, unless the program has errors of its own.
void note_given_up(const Diagnostics& attempt, Diagnostics& out);

}  // namespace parpy
