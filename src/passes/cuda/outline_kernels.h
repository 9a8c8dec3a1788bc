// Turns each outermost parallel loop and each Gpu block into a kernel and its launch.
//
//     before  for i … [threads, 128 in 1 block]: y[i] = a * x[i]
//     after   launch f_i(a, x, y) grid(1) block(128)
//             kernel f_i(a, x, y): for i … [threads, 128 in 1 block]: y[i] = a * x[i]
//
// Scalars that a kernel computes and another one reads stay on the device, in one-element arrays;
// host code that reads them fetches them first.
//
//     pre   profile kMapped, nests split (split_kernels)     post   profile kKernels; loops in
//     kernels keep their levels      errors P312 grid too large      notes P307 the host waits
#pragma once

#include "passes/pass.h"

namespace parpy {

void outline_kernels(PassContext& context);

}  // namespace parpy
