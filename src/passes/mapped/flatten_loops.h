// Counts the iterations of nested parallel loops together where their numbers change while the
// function runs, as in the passes of a Fourier transform or a sorting network: no fixed division
// into blocks and threads suits both few long and many short loops.
//
//     for l in range(left) [blocks]:           trips = max(left, 0);  trips_1 = max(right, 0)
//         w = f(l)                             for l_r in range(trips * trips_1) [threads]:
//         for r in range(right) [threads]:         l = l_r / trips_1
//             y[l * right + r] = w * x[r]          r = l_r % trips_1
//                                                  w = f(l)
//                                                  y[l * right + r] = w * x[r]
//
// `left` and `right` are assigned in a loop of the host around the nest. Nests in code that a single
// block runs are counted together as well, since its threads are on one level. Statements between
// the loops only assign scalars; every iteration repeats them. Each element is computed by the same
// operations: results are the same bit for bit.
//     pre   profile kMapped, CUDA, automatic mode             post   the same
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "passes/pass.h"

namespace parpy {

void flatten_loops(PassContext& context);

// The text that explain shows beside the outermost loop of a nest.
struct FlatNote {
    const ir::For* loop = nullptr;
    std::string text;
};
[[nodiscard]] std::vector<FlatNote> flat_notes(PassContext& context);

}  // namespace parpy
