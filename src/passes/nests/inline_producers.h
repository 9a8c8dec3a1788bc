// Computes elements of arrays that the program allocates where they are used, instead of storing
// all of them in one nest and loading them in later nests.
//
//     alloc t: f64[66]                   for i in range(64):
//     for i in range(66):                    t_1 = 2 * x[i]
//         t[i] = 2 * x[i]                    t_2 = 2 * x[i + 2]
//     for i in range(64):                    y[i] = t_2 - t_1
//         y[i] = t[i + 2] - t[i]
//
// The value must be a function of arrays and scalars that do not change until the last use, and the
// target's rates must predict that moving the array through memory takes longer than computing
// elements several times. Loads behind the store in the same iteration use the stored value. Each
// element is the result of the same operations: results are the same bit for bit. Before and after:
// kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_cpu_producers(PassContext& context);
void inline_cuda_producers(PassContext& context);

}  // namespace parpy
