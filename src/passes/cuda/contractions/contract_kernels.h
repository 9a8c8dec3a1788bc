// Computes contractions (analysis/contractions) by kernels over tiles of sums, whose factors are in
// shared memory (contraction_kernel.h).
//
//     before  for i in range(n) [blocks]: for j in range(m) [threads]:
//                 t = 0;  for k in range(l): t += A[i, k] * B[k, j]
//                 C[i, j] = t
//     after   gpu grid(tiles) block(256): …
//
// Each sum is added to in the order of the loop: results are those of a chain of fused
// multiply-adds, whatever the tile. A nest stays loops if a loop around it runs on the GPU, or if
// it is small; explain gives the reason (NearContraction).
//     pre   profile kMapped, CUDA, automatic mode     post   the same
#pragma once

#include <vector>

#include "analysis/contractions/contractions.h"
#include "passes/pass.h"

namespace parpy {

void contract_kernels(PassContext& context);

// The loops that add up the products of the contractions that the pass would replace.
[[nodiscard]] std::vector<ir::For*> steps_of_kernels(PassContext& context);

[[nodiscard]] std::vector<ContractionNote> kernel_contraction_notes(PassContext& context);

}  // namespace parpy
