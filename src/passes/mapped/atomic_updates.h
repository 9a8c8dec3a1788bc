// Makes updates atomic if several iterations of a parallel loop may update the same element:
//
//     for i in range(n): [threads(n)]           for i in range(n): [threads(n)]
//         h[k[i]] += 1                               atomic h[k[i]] += 1
//
// Updates in loops that may run in spite of other possible conflicts, which check_legality judges
// next, become atomic, too. The pass leaves alone loops with any other certain conflict, and the
// updates that analysis/scatters.h excludes.
// Before and after: kMapped, reductions filled in.
#pragma once

#include "passes/pass.h"

namespace parpy {

void atomic_updates(PassContext& context);

}  // namespace parpy
