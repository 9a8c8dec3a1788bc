// Makes updates atomic that several iterations of a parallel loop may make of one element:
//
//     for i in range(n): [threads(n)]           for i in range(n): [threads(n)]
//         h[k[i]] += 1                               atomic h[k[i]] += 1
//
// So are those in loops that may run although other conflicts are possible, which check_legality
// judges next. Left alone: loops with any other certain conflict, and what analysis/scatters.h
// leaves out.
// Before and after: kMapped, reductions filled in.
#pragma once

#include "passes/pass.h"

namespace parpy {

void atomic_updates(PassContext& context);

}  // namespace parpy
