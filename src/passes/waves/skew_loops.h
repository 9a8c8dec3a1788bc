// Runs nests whose loops all carry dependences as waves: one loop over hyperplanes of iterations,
// which run one after the other, and loops over the independent iterations of each.
//
//     for i in range(1, n):                   for wave in range(2, n + m - 1):
//         for j in range(1, m):                   for i in range(max(1, wave - m + 1),
//             a[i, j] = (a[i - 1, j]                             min(n, wave)):  # independent
//                        + a[i, j - 1])               j = wave - i
//                                                     a[i, j] = a[i - 1, j] + a[i, j - 1]
//
// Lamport's hyperplane method ("The parallel execution of DO loops", CACM 17, 1974). A hyperplane
// has small integer coefficients whose products with all distances between conflicting iterations
// are positive, so that results are the same bit for bit. The bounds of the loops may depend on
// each other linearly; no scalar may pass a value from one iteration to the next. Statements beside
// the inner loop run in loops of their own before and behind the waves. The pass acts where the
// cost model of GPUs predicts that at least half of the time is saved. It proves nothing to later
// passes, which judge the new loops like any others. Before and after: kLoops, no loop is mapped.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "passes/pass.h"

namespace parpy {

void skew_loops(PassContext& context);

// What explain says about the loops that skew_loops would make the loops over waves. The program
// is not changed.
struct WavesNote {
    const ir::For* loop;
    std::string text;
};
[[nodiscard]] std::vector<WavesNote> waves_notes(PassContext& context);

}  // namespace parpy
