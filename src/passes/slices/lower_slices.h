// Turns every statement over slices into loops, one per dimension from the left, and every slice
// reduction and matrix product into a loop that accumulates.
//
//     before  label "N"                              after  label "N"
//             label "M"                                     for i in range(10):
//             y[:] = reduce(sum, x[:, 1:], 1)                   sum = 0.0
//                                                               label "M"
//                                                               for j in range(19):
//                                                                   sum += x[i, j + 1]
//                                                               y[i] = sum
//
// The right side counts as evaluated before anything is stored: what depends on fewer loops than
// it stands in, and could see a store, is computed in front of them; where elements are read that
// other iterations store, the loops run backwards or the values go through scratch memory,
// in helpers through an array of the thread's own if they are few.
// Neighbouring statements over the same space become one nest if no iteration touches what another
// one stores. On the GPU, host-level statements whose loops are mapped stay whole in a Gpu block.
//
// Before: kTyped, after normalize_loops. After: kTyped without kSlice, kNewAxis, kReduce, kMatMul;
// labels stand on the loops.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_slices(PassContext& context);

}  // namespace parpy
