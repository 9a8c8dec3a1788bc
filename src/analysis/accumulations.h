// Which updates in a loop have targets that several of its iterations share. The text of the loop
// alone decides: the answer holds for all arguments, wherever their memory lies. The
// `deterministic` option keeps the bits of these sums.
#pragma once

#include <vector>

#include "analysis/updates.h"
#include "ir/ir.h"

namespace parpy {

// The updates in `loop` (a For or While), chains of fused products included, whose target is a
// scalar or an element with invariant subscripts, combined by one operator and not used otherwise
// in the loop. Subscripts may vary with inner loops: `C[i, j] += A[i, k] * B[k, j]` accumulates
// over k, also where the loop over j is inside the loop over k.
[[nodiscard]] std::vector<Update> accumulations_of(ir::Stmt& loop);

// Whether iterations of `loop` accumulate by updates whose order changes the bits of the result.
[[nodiscard]] bool accumulates_in_order(ir::For& loop);

}  // namespace parpy
