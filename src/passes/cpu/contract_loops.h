// Computes contractions (analysis/contractions) by tiles of sums that a core keeps in its vector
// registers, from factors that are laid out side by side.
//
//     before  for i in range(n) [workers]: for j in range(m):
//                 t = 0;  for k in range(l): t += A[i, k] * B[k, j];  C[i, j] = t
//     after   for strip … [workers]: right[…] = B[k, j]
//             for block … [workers]:
//                 left[…] = A[i, k]
//                 for strip …: for tile_row …:
//                     sums[…] = 0;  tile(8, 3, 8, True, sums, left, right, l);  C[i, j] = sums[…]
//
// Each sum is added to in the order of the loop: results are those of a chain of fused
// multiply-adds, whatever the number of workers. Statements around the steps are kept. Workers run
// blocks instead of rows or columns, at most as many as the mapping says. Small contractions stay
// loops; explain gives the reason for others that do (NearContraction).
//     pre   profile kMapped, CPU     post   the same
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "passes/pass.h"

namespace parpy {

void contract_loops(PassContext& context);

// The loops over rows and columns that the pass would replace, and the loops around them that
// belong to the contraction.
[[nodiscard]] std::unordered_set<const ir::For*> contracted_loops(PassContext& context);

// The loops that add up their products.
[[nodiscard]] std::vector<ir::For*> contracted_steps(PassContext& context);

[[nodiscard]] std::vector<ContractionNote> contraction_notes(PassContext& context);

}  // namespace parpy
