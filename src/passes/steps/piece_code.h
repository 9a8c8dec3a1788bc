// Loops made of the pieces of a step (step_pieces.h).
#pragma once

#include <cstddef>
#include <vector>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ir.h"
#include "passes/steps/step_pieces.h"

namespace parpy {

// `for step in range(first, end)` with an empty body; downwards where `loop` counts down.
[[nodiscard]] ir::For* steps_of(ir::Module& module, const ir::For& loop, const StepBlock& block);

// The part of a loop, around `inner`.
[[nodiscard]] ir::For* loop_of(ir::Module& module, const PieceLoop& part, ir::Body inner,
                               const ir::Substitution& renamed);

// Whether the variable has none of the values from `skipped` up to `resumes`; null: nothing is
// skipped.
[[nodiscard]] ir::Expr* is_outside(ir::Builder& builder, ir::Var* var, const ir::Expr* skipped,
                                   const ir::Expr* resumes);

// The loops of the piece, except those in `without`, around its statements.
[[nodiscard]] ir::Body nest_of_piece(ir::Module& module, const StepPiece& piece,
                                     const std::vector<std::size_t>& without,
                                     const ir::Substitution& renamed);

// Pieces that depend on each other, so that they run together, and the loops that all of them
// share, with one range in all steps: for each of these, its number in every piece. They may
// surround the steps.
struct StepGroup {
    std::vector<StepPiece> pieces;
    std::vector<std::vector<std::size_t>> outer;
};

}  // namespace parpy
