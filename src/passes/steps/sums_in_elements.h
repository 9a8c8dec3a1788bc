// Replaces sums in scalars by sums in the elements that they are stored to, whose updates may run
// separately.
//
//     t = a[i, j]                              for k in range(j):
//     for k in range(j):                           a[i, j] -= a[i, k] * a[j, k]
//         t -= a[i, k] * a[j, k]
//     a[i, j] = t
//
// The scalar and the element have one type, so that the values are the same. Unless `exactly`, a
// sum that begins at zero becomes updates of the element, too, as in
//
//     t = 0.0                                  x[i] = b[i]
//     for k in range(i):                       for k in range(i):
//         t += a[i, k] * x[k]                      x[i] -= a[i, k] * x[k]
//     x[i] = (b[i] - t) / a[i, i]              x[i] = x[i] / a[i, i]
//
// which adds in another order.
#pragma once

#include <utility>
#include <vector>

#include "ir/ir.h"
#include "mapping/plan.h"

namespace parpy {

class SumsInElements {
public:
    // Rewrites the body of `loop`, whose scalars must not be read behind it.
    SumsInElements(ir::Module& module, ir::For& loop, bool exactly);

    // Whether the rewrite keeps the values: no summand reads the element. To be called before
    // anything else is changed.
    [[nodiscard]] bool proved(ParallelLoops& loops) const;

private:
    void rewrite_in(ir::Body& body);
    bool rewrite_sum(ir::Body& body, std::size_t first);
    bool rewrite_difference(ir::Body& body, std::size_t first);
    void update_element(ir::Body& body, std::size_t first, std::size_t last, const ir::Var& scalar,
                        ir::Var& array, const std::vector<ir::Expr*>& indices, bool negated);
    std::vector<ir::Expr*> copies(const std::vector<ir::Expr*>& indices);
    // Whether the statements between `first` and `last` are loops that sum up `scalar`, which
    // nothing else but these two statements mentions, and leave the subscripts as they are.
    bool sums_alone(const ir::Body& body, std::size_t first, std::size_t last,
                    const ir::Var& scalar, const std::vector<ir::Expr*>& indices) const;

    ir::Module& module_;
    const ir::For& loop_;
    const bool exactly_;
    // The updates, each with the loop between the load of the element and its store.
    std::vector<std::pair<const ir::For*, const ir::Stmt*>> updates_;
};

}  // namespace parpy
