// Splits nests so that several blocks work on one loop alone: blocks of a kernel cannot wait for
// each other, but the next kernel waits for all of them.
//
//     before  for i … [blocks]:  y[i] = 0;  for j … [threads, 4 blocks]: y[i] += x[i, j]
//     after   for i … [threads]: y[i] = 0
//             for i … [blocks]:  for j … [threads, 4 blocks]: y[i] += x[i, j]
//
//     before  for i … [blocks]:  s = 0;  for j … [threads, 4 blocks]: s += x[i, j];  y[i] = s
//     after   the same: the block that combines the parts of `s` stores y[i]
//
//     pre   profile kMapped, CUDA levels        post   kMapped; the loops of a kernel that spread
//     over blocks form a chain; only scalar definitions precede each, and only statements that one
//     block runs when the others are done follow it
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_kernels(PassContext& context);

}  // namespace parpy
