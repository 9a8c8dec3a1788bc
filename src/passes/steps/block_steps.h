// Runs a loop whose steps rest on each other a block of steps at a time, where what most of the
// work is done for lies behind the block: updates that no step of the block reads wait for its end
// and are one contraction then, or come first, if they add up what earlier blocks computed.
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
// The loops of a step are cut where the block begins and ends (step_pieces.h), sums in scalars are
// made sums in elements, and the pieces become loops over the block's steps one after the other:
// those that feed each other together, in an order that no two conflicting iterations mind. All of
// it rests on exact dependences. Each element sees the same updates in the same order.
//     pre   kLoops, no loop is mapped        post   the same
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "passes/pass.h"

namespace parpy {

void block_cpu_steps(PassContext& context);
void block_cuda_steps(PassContext& context);

// What explain says beside a loop that the pass runs in blocks, which stays the loop over these.
struct StepsNote {
    const ir::For* loop = nullptr;
    std::string text;
};
[[nodiscard]] std::vector<StepsNote> cpu_steps_notes(PassContext& context);
[[nodiscard]] std::vector<StepsNote> cuda_steps_notes(PassContext& context);

}  // namespace parpy
