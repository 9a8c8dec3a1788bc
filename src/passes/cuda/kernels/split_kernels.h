// Splits nests so that wherever several blocks work below a loop, they work on one loop alone:
// blocks of a kernel cannot wait for each other, but the next kernel waits for all of them.
//
//     before  for i … [blocks]:  y[i] = 0;  for j … [threads, 4 blocks]: y[i] += x[i, j]
//     after   for i … [threads]: y[i] = 0
//             for i … [blocks]:  for j … [threads, 4 blocks]: y[i] += x[i, j]
//
//     before  for i … [blocks]:  s = 0;  for j … [threads, 4 blocks]: s += x[i, j];  y[i] = s
//     after   the same: the block that puts the parts of `s` together stores y[i]
//
//     pre   profile kMapped, CUDA levels        post   kMapped; the loops of a kernel that spread
//     over blocks form a chain; in front of each stand scalar definitions alone, behind it what one
//     block does when the others are done
#pragma once

#include "passes/pass.h"

namespace parpy {

void split_kernels(PassContext& context);

}  // namespace parpy
