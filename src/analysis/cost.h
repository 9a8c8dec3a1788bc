// A rough static estimate of how long code takes on one CPU core, for the decision whether a loop
// is worth handing to other threads. Off by a factor of a few is good enough.
#pragma once

#include "ir/ir.h"
#include "ir/tile.h"

namespace parpy {

// Nanoseconds of one iteration of `loop`. Trip counts that are not known are guessed.
[[nodiscard]] double cost_of_iteration(const ir::For& loop);
// Of an expression, without what it loads.
[[nodiscard]] double cost_of_operators(const ir::Expr& expr);
// Of one step of a kTile.
[[nodiscard]] double cost_of_step(const ir::TileShape& tile, ir::Scalar type);
// Of a statement; of loops in it likewise.
[[nodiscard]] double cost_of(const ir::Stmt& stmt);

}  // namespace parpy
