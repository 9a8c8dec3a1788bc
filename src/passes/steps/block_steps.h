// Splits a loop whose steps depend on each other into blocks of steps, where most of its updates
// are to elements outside of the block: updates that no step of the block reads are delayed to its
// end, where they are one contraction; sums over earlier blocks come first.
//
//     for k in range(n):                        for first in range(0, n, 64):
//         for i in range(k + 1, n):                 end = min(first + 64, n)
//             a[i, k] /= a[k, k]                    for k in range(first, end): …        up to end
//         for i in range(k + 1, n):                 for i in range(end, n): for k …      columns
//             for j in range(k + 1, n):             for j in range(end, n): for k …      rows
//                 a[i, j] -= a[i, k] * a[k, j]      for i in range(end, n):
//                                                       for j in range(end, n):
//                                                           for k in range(first, end):
//                                                               a[i, j] -= a[i, k] * a[k, j]
//
// The loops of a step are cut where the block begins and ends (step_pieces.h), sums in scalars
// become sums in elements, and the pieces become loops over the block's steps one after the other;
// pieces that depend on each other stay together. On GPUs steps may be rewritten first
// (early_updates.h, step_versions.h), and blocks of threads run the pieces beside the block of
// steps (block_code.h). Exact dependences prove that all conflicting iterations keep their order:
// each element gets the same updates in the same order. Loops inside may have pragmas that only
// claim that they are parallel; the claim is not used.
//     pre   kLoops, no loop is mapped        post   the same
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "passes/pass.h"

namespace parpy {

void block_cpu_steps(PassContext& context);
void block_cuda_steps(PassContext& context);

// The text that explain shows beside a loop that the pass splits; it stays the loop over blocks.
struct StepsNote {
    const ir::For* loop = nullptr;
    std::string text;
};
[[nodiscard]] std::vector<StepsNote> cpu_steps_notes(PassContext& context);
[[nodiscard]] std::vector<StepsNote> cuda_steps_notes(PassContext& context);

}  // namespace parpy
