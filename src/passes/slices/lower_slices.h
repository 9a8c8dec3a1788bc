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
// The right side is evaluated before anything is stored: a part that depends on fewer loops than
// surround it, and could see a store, is computed before these loops; if elements are read that
// other iterations store, the loops run backwards or the values go through scratch memory, in
// helpers through an array of the thread's own if they are few. Neighbouring statements over the
// same space are fused if no iteration accesses an element that another one stores. On the GPU,
// host-level statements whose loops are mapped stay whole in a Gpu block.
//
// Before: kTyped, after normalize_loops. After: kTyped without kSlice, kNewAxis, kReduce, kMatMul;
// the loops have the labels.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_slices(PassContext& context);

}  // namespace parpy
