// Loops whose variable may count from another place, which changes with a loop around: x[i + k] is
// x[m], where m = k + i. Frees factors from loops that slices bring in (x[i:], x[i + 1 :]).
#pragma once

#include <vector>

#include "analysis/contractions/nest_of_sums.h"
#include "ir/ir.h"

namespace parpy {

struct LoopShift {
    ir::For* loop = nullptr;
    ir::Expr* by = nullptr;  // what is added to its variable
};

// Those that the factors of the first sum suggest.
[[nodiscard]] std::vector<LoopShift> shifts_of(ir::Module& module, const NestOfSums& nest);

// From now on the variable stands for what it was and the shift: in chains and values, not in the
// loop's own bounds.
void apply_shift(ir::Module& module, NestOfSums& nest, const LoopShift& shift);

// The expression with its sum added up.
[[nodiscard]] ir::Expr* summed(ir::Module& module, ir::Expr* index);

}  // namespace parpy
