// Refuses parallel loops whose iterations depend on each other, and names two such iterations.
//
//     for i in range(9) [parallel]: a[i + 1] = a[i]
//     error[P401]: loop 'i' cannot run in parallel: iteration i=0 writes a[1], iteration i=1 reads
//     a[1]
//
// Loops with an unknown dependence run, with a performance note (P403); Options::legality 'strict'
// refuses them, too (P402), 'trust' skips the pass. A conflict that depends on run-time arguments
// is no error but a requirement of the module: calls that violate it get a program of their own.
// Never changes statements. Before and after: kMapped, reductions filled in.
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_legality(PassContext& context);

}  // namespace parpy
