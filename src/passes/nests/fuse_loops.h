// Fuses neighbouring nests over the same iterations that share an array, where every loop that may
// run in parallel still may and no result depends on the order.
//
//     for i in range(n):                 for i in range(n):
//         y[i] = 2 * x[i]                    y[i] = 2 * x[i]
//     for i in range(n):                     z[i] = y[i] + x[i]
//         z[i] = y[i] + x[i]
//
// The data that the nests share are read from memory once; on a GPU there is one kernel less. The
// nests are whole perfect nests of one depth whose innermost loops both walk through memory element
// by element, or both do not; or the fused nest needs no memory any longer for an array of the
// program (contract_arrays.h). Each iteration computes the same values: results are the same bit
// for bit. Assignments between the nests move in front of them or behind them. Before and after:
// kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void fuse_loops(PassContext& context);

}  // namespace parpy
