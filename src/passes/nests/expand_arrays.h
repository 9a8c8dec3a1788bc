// Gives each iteration of a loop its own memory for arrays that the program allocates outside of
// the loop, where this shared memory alone keeps the loop from running in parallel. On a CPU every
// iteration allocates the arrays, if they fit a thread's stack; on a GPU all iterations share one
// larger array, in which each has a part of its own.
//
//     alloc t: f64[5000] scratch        alloc t: f64[200, 5000] scratch
//     for i in range(200):              for i in range(200):
//         for j in range(5000):             for j in range(5000):
//             t[j] = exp(a[i, j])               t[i, j] = exp(a[i, j])
//         for j in range(5000):             for j in range(5000):
//             b[i, j] = t[4999 - j]             b[i, j] = t[i, 4999 - j]
//
// The pass expands only arrays of constant sizes, of which each iteration stores all elements
// before it loads any, and only as long as the memory is not too much. Beside a mapping by hand it
// acts on loops that the mapping or a pragma names. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void expand_cpu_arrays(PassContext& context);
void expand_cuda_arrays(PassContext& context);

}  // namespace parpy
