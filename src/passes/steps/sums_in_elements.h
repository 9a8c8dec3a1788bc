// Replaces sums in scalars by sums in the elements that they are stored to, whose updates may run
// separately.
//
//     t = a[i, j]                              for k in range(j):
//     for k in range(j):                           a[i, j] -= a[i, k] * a[j, k]
//         t -= a[i, k] * a[j, k]
//     a[i, j] = t
//
// The scalar and the element have one type, so that the values are the same.
#pragma once

#include <utility>
#include <vector>

#include "ir/ir.h"
#include "mapping/plan.h"

namespace parpy {

class SumsInElements {
public:
    // Rewrites the body of `loop`, whose scalars must not be read behind it.
    SumsInElements(ir::Module& module, ir::For& loop);

    // Whether the rewrite keeps the values: no summand reads the element. To be called before
    // anything else is changed.
    [[nodiscard]] bool proved(ParallelLoops& loops) const;

private:
    void rewrite_in(ir::Body& body);
    bool rewrite_sum(ir::Body& body, std::size_t first);

    ir::Module& module_;
    const ir::For& loop_;
    // The updates, each with the loop between the load of the element and its store.
    std::vector<std::pair<const ir::For*, const ir::Stmt*>> updates_;
};

}  // namespace parpy
