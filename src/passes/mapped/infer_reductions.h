// Finds the reductions of each parallel loop, and refuses scalars that make its iterations depend
// on each other. An update of a scalar from outside of the loop, or of one element, is a reduction
// if no other statement of the loop uses the target (subscripts prove it for elements: B[i, j] +=
// A[i, k] * B[k, j] for k > i); equivalent plain assignments become updates.
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
