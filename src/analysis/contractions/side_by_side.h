// Whether neighbouring iterations of a loop touch elements that lie side by side in memory: such a
// loop makes better columns of a contraction than rows.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace parpy {

// The loop walks through the array element by element.
[[nodiscard]] bool walks(const ir::Var& array, const std::vector<ir::Expr*>& indices,
                         const ir::For& loop);
// How many loads of the expression walk so.
[[nodiscard]] int loads_along(const ir::Expr& e, const ir::For& loop);
// A store in `body` does.
[[nodiscard]] bool stores_along(const ir::Body& body, const ir::For& loop);

}  // namespace parpy
