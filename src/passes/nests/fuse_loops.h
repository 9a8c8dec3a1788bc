// Makes one nest of neighbouring ones over the same iterations that share an array, where every
// loop that may run in parallel still may and no result depends on the order.
//
//     for i in range(n):                 for i in range(n):
//         y[i] = 2 * x[i]                    y[i] = 2 * x[i]
//     for i in range(n):                     z[i] = y[i] + x[i]
//         z[i] = y[i] + x[i]
//
// What the nests share is read from memory once; on a GPU there is one kernel less. Only whole
// perfect nests of one depth whose innermost loops both walk through memory element by element, or
// both do not; or that need no memory any longer for an array of the program (contract_arrays.h).
// Each iteration computes what it did: results are the same bit for bit. Assignments that stand
// between the nests go in front of them or behind them. Before and after: kLoops, no loop is
// mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void fuse_loops(PassContext& context);

}  // namespace parpy
