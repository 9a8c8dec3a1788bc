// Loops whose variable may count from another value, which changes with a loop around: x[i + k] is
// x[m], where m = k + i. Frees factors from loops that slices bring in (x[i:], x[i + 1 :]).
#pragma once

#include <vector>

#include "analysis/contractions/nest_of_sums.h"
#include "ir/ir.h"

namespace parpy {

struct LoopShift {
    ir::For* loop = nullptr;
    ir::Expr* by = nullptr;  // the value added to the loop's variable
};

// The shifts that the factors of the first sum suggest.
[[nodiscard]] std::vector<LoopShift> shifts_of(ir::Module& module, const NestOfSums& nest);

// Makes the loop's variable stand for its old value plus the shift: in chains and values, not in
// the loop's own bounds.
void apply_shift(ir::Module& module, NestOfSums& nest, const LoopShift& shift);

// The expression with its terms added up.
[[nodiscard]] ir::Expr* summed(ir::Module& module, ir::Expr* index);

}  // namespace parpy
