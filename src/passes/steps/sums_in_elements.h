// Sums that scalars hold for an element, made sums in the element: updates that may be run apart.
//
//     t = a[i, j]                              for k in range(j):
//     for k in range(j):                           a[i, j] -= a[i, k] * a[j, k]
//         t -= a[i, k] * a[j, k]
//     a[i, j] = t
//
// Types are the same, so that values are.
#pragma once

#include <utility>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"
#include "mapping/plan.h"

namespace parpy {

class SumsInElements {
public:
    // Rewrites what is in `loop`, a statement of `entry`.
    SumsInElements(ir::Module& module, const ir::Function& entry, ir::For& loop);

    // Whether that made no difference: nothing that is added reads the element. To be asked before
    // anything else is changed.
    [[nodiscard]] bool proved(ParallelLoops& loops) const;

private:
    void rewrite_in(ir::Body& body);
    bool rewrite_sum(ir::Body& body, std::size_t first);

    ir::Module& module_;
    const ir::For& loop_;
    const Liveness liveness_;
    // Updates, and the loop that stands between where the scalar was set and where it was stored.
    std::vector<std::pair<const ir::For*, const ir::Stmt*>> updates_;
};

}  // namespace parpy
