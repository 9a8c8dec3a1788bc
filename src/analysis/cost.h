// A rough static estimate of the time of code on one CPU core, for the decision whether a loop
// is worth handing to other threads. Off by a factor of a few is good enough.
#pragma once

#include "ir/ir.h"
#include "ir/tile.h"

namespace parpy {

// Nanoseconds of one iteration of `loop`. Trip counts that are not known are guessed.
[[nodiscard]] double cost_of_iteration(const ir::For& loop);
// The cost of an expression without its loads.
[[nodiscard]] double cost_of_operators(const ir::Expr& expr);
// The cost of one step of a kTile.
[[nodiscard]] double cost_of_step(const ir::TileShape& tile, ir::Scalar type);
// The cost of a statement, with that of the loops in it.
[[nodiscard]] double cost_of(const ir::Stmt& stmt);

}  // namespace parpy
