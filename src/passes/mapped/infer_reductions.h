// Finds what each parallel loop reduces, and refuses scalars that make its iterations depend on
// each other. An update of a scalar from outside, or of one element, that nothing else in the loop
// touches is a reduction (of an element its subscripts prove it: B[i, j] += A[i, k] * B[k, j] for k
// > i); plain spellings of it become updates.
//
//     before  for i … [threads]: s = s + x[i]        if x[i] > m: m = x[i]
//     after   for i … [threads, reduce(+ s, max m)]: s += x[i]        m max= x[i]
//
//     pre   profile kMapped, loops have levels      post   kMapped, reductions filled in at every
//     parallel loop that they are invariant in (the outermost of them combines the partial values)
//     errors P310/P311 scalars assigned or carried by iterations
#pragma once

#include "passes/pass.h"

namespace parpy {

void infer_reductions(PassContext& context);

}  // namespace parpy
