// Whether neighbouring iterations of a loop touch elements that lie side by side in memory: such a
// loop makes better columns of a contraction than rows.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace parpy {

// Whether consecutive iterations of the loop access consecutive elements of the array.
[[nodiscard]] bool walks(const ir::Var& array, const std::vector<ir::Expr*>& indices,
                         const ir::For& loop);
// How many loads of the expression access consecutive elements.
[[nodiscard]] int loads_along(const ir::Expr& e, const ir::For& loop);
// Whether a store in `body` accesses consecutive elements.
[[nodiscard]] bool stores_along(const ir::Body& body, const ir::For& loop);

}  // namespace parpy
