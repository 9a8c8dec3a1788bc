// Has rows of a matrix read as they lie in memory where the text walks down its columns: blocks of
// neighbouring columns take each step together (strip-mining and interchange, with the scalars of
// an iteration expanded into arrays of a block).
//
//     for j in range(m): [workers]           for block in range(ceil(m / 512)): [workers]
//         total = 0.0                            for j in block: total = 0.0; totals[j] = total
//         for i in range(n):                     for i in range(n): for j in block:
//             total += a[i, j]                       total = totals[j]; total += a[i, j]; …
//         s[j] = total                           for j in block: total = totals[j]; s[j] = total
//
// Only where iterations of the outer loop are independent, or meet in one scalar that is updated in
// their order, where the bounds of the inner loop are the same in all of them, and where this saves
// half of the memory that is moved, or lets vectors repeat costly operations on elements that lie
// side by side (square roots, quotients: each waits for the one before it). Each iteration does all
// that it did, in the same order: results are the same bit for bit. Several steps are taken at a
// time.
//     pre   profile kMapped, CPU     post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void block_columns(PassContext& context);

}  // namespace parpy
