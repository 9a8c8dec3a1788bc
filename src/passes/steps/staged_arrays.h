// Copies the elements that a block of GPU threads uses to memory of its own before its steps, and
// back behind them.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ir/ir.h"
#include "passes/steps/step_pieces.h"

namespace parpy {

// A variable that is `first` plus `offset`, which is less than `size`; the values from `first` up
// to `end` exist.
struct StagedRange {
    const ir::Var* first = nullptr;
    const ir::Expr* offset = nullptr;
    const ir::Expr* end = nullptr;
    std::int64_t size = 0;
    // The values from `skipped` up to `resumes` are left out; null: none.
    const ir::Expr* skipped = nullptr;
    const ir::Expr* resumes = nullptr;
    bool is_step = false;  // the variable is the number of the step
};
using StagedRanges = std::unordered_map<const ir::Var*, StagedRange>;

// Stages what `steps`, a statement of `block`, uses: arrays all of whose subscripts are variables
// with a range, or the number of the step in its block. Parts of an array that is stored to must be
// the same or lie apart, which those of different `first` do.
void stage_arrays(ir::Module& module, ir::For& block, ir::For& steps, const StepBlock& of_steps,
                  const StagedRanges& ranges);

}  // namespace parpy
