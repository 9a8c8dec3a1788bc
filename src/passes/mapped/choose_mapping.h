// The automatic mode: maps the loops that may run in parallel, where that pays (mapping/plan.h).
//
//     for i in range(n):                        for i in range(n): [threads(n)]
//         for j in range(m):          CPU           for j in range(m): [threads(m), reduce]
//             y[i] += x[i, j]
//
// CUDA: array code outside the chosen loops goes into Gpu blocks. A legality that depends on
// run-time arguments becomes a requirement of the module, as in check_legality.
// Before and after: kLoops; the user's mapping is empty.
#pragma once

#include "passes/pass.h"

namespace parpy {

void choose_cpu_mapping(PassContext& context);
void choose_cuda_mapping(PassContext& context);

// Where the choice, which nobody asked for, cannot be carried out, the program goes without: notes
// the first error of the attempt, unless the program has errors of its own.
void note_given_up(const Diagnostics& attempt, Diagnostics& out);

}  // namespace parpy
