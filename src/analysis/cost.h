// A rough static estimate of the time of code on one CPU core, for the decision whether a loop
// is worth handing to other threads. Off by a factor of a few is good enough.
#pragma once

#include "ir/ir.h"
#include "ir/tile.h"

namespace parpy {

// The cost of an expression without its loads.
[[nodiscard]] double cost_of_operators(const ir::Expr& expr);
// The cost of one step of a kTile.
[[nodiscard]] double cost_of_step(const ir::TileShape& tile, ir::Scalar type);
// The cost of a statement, with that of the loops in it.
[[nodiscard]] double cost_of(const ir::Stmt& stmt);

// A function that is written out in some dozen operations, or a square root: lanes of a vector gain
// more by computing it side by side than they lose by loading from places that lie apart.
[[nodiscard]] bool is_elementary(ir::Op op);

}  // namespace parpy
