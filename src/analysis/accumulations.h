// Which updates of a loop its iterations make of the same targets, as the text of the loop alone
// tells: whatever the arguments are and wherever their memory lies. What `deterministic` promises
// bits for.
#pragma once

#include <vector>

#include "analysis/updates.h"
#include "ir/ir.h"

namespace parpy {

// The updates in `loop` (a For or While) of scalars, and of elements whose subscripts do not vary
// with it, that it uses for nothing else and combines by one operator; chains of fused products
// included. Subscripts may vary with loops inside: `C[i, j] += A[i, k] * B[k, j]` accumulates over
// k, also where the loop over j is inside of that over k.
[[nodiscard]] std::vector<Update> accumulations_of(ir::Stmt& loop);

// Iterations of `loop` accumulate by updates whose order shows.
[[nodiscard]] bool accumulates_in_order(ir::For& loop);

}  // namespace parpy
