// Fuses the outer loops of neighbouring nests, where the iterations of these outer loops are
// independent: the bodies follow each other in the fused loop.
//
//     for i in range(n):                            for i in range(n):
//         for j in range(m):                            for j in range(m):
//             c[i, j] *= beta                               c[i, j] *= beta
//         for j in range(m):                                for k in range(i + 1):
//             for k in range(i + 1):                            c[i, j] += a[i, k] * b[k, j]
//                 c[i, j] += a[i, k] * b[k, j]
//
// On CUDA in a parallel loop: a thread then keeps elements that both nests touch, and sums that
// several ranges add to are one contraction. Also at the top of the entry, where the second nest
// loads a large array that the first one touched, in rows that stay in the cache between them; on
// CUDA if the planner does not predict a loss.
// One of the nests must store to an array that both touch; the other conditions are those of
// fuse_loops. Results are the same bit for bit. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void fuse_cpu_outer_loops(PassContext& context);
void fuse_cuda_outer_loops(PassContext& context);

}  // namespace parpy
