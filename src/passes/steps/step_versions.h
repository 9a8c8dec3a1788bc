// Keeps the elements that each step of a block finds in memory of their own, with a row for each
// step, so that updates which read them may run after later steps have overwritten the elements.
//
//     for k in range(first, end):               for k in range(first, end):
//         for i in range(n):                        for i in range(n): A[k - first, i] = a[i, k]
//             if i != k:                            for j in range(n): B[k - first, j] = a[k, j]
//                 t = a[i, k]                       for i in range(n):
//                 for j in range(n):                    for j in range(n):
//                     a[i, j] =                             if i != k: a[i, j] = min(a[i, j],
//                         min(a[i, j], t + a[k, j])             A[k - first, i] + B[k - first, j])
//
// An array that holds the new elements until all are computed, as in a[:] = …, is no longer needed
// then: they are stored where they belong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/ir.h"
#include "mapping/plan.h"
#include "passes/steps/step_pieces.h"

namespace parpy {

class StepVersions {
public:
    // Whether the steps of `loop` may update elements by elements that later steps overwrite.
    [[nodiscard]] static bool may_help(ir::For& loop);

    // Gives each load of such an element a statement of its own. `most`: the steps of a block.
    StepVersions(ir::Module& module, ir::For& loop, const StepBlock& block, std::int64_t most);

    // Whether each of these loads reads the element as the step finds it.
    [[nodiscard]] bool proved(ParallelLoops& loops,
                              const std::function<bool(ir::For*)>& independent) const;

    // Rewrites the loop, and moves conditions into the innermost loops.
    void apply();

    // The new arrays, to be allocated before the loop, and arrays that nothing uses any more.
    [[nodiscard]] std::vector<ir::Var*> arrays() const;
    [[nodiscard]] const std::vector<const ir::Var*>& unused() const { return unused_; }

private:
    // A scalar that holds the element at the step's place along `axis`.
    struct Load {
        ir::Assign* assign = nullptr;
        std::size_t axis = 0;
        Nest around;  // the loops inside the step
    };
    struct Version {
        ir::Var* array = nullptr;
        std::size_t axis = 0;
        ir::Var* rows = nullptr;  // its first subscript is the step in the block
    };

    void replace_copies();
    void find_loads(ir::Body& body, Nest& around);
    bool note(ir::Assign& assign, const Nest& around);
    [[nodiscard]] std::optional<std::size_t> axis_of(const ir::Expr& load,
                                                     const Nest& around) const;
    const Version& version_of(ir::Var& array, std::size_t axis);
    [[nodiscard]] ir::Expr* kept(const Version& version, const std::vector<ir::Expr*>& indices);
    ir::Body copy_of(const Version& version);
    bool join_stores(ir::For& first, ir::For& second);
    [[nodiscard]] bool is_fixed(const ir::Expr& condition) const;
    ir::Body sunk(const ir::Body& body, const ir::Expr* condition);

    ir::Module& module_;
    ir::For& loop_;
    const StepBlock block_;
    const std::int64_t most_;
    Uses uses_;           // of the loop
    VarSet overwritten_;  // arrays stored by statements that precede the current one
    bool fits_ = true;    // no load follows a store to its array, and the rows are not too large
    std::vector<Load> loads_;
    std::vector<Version> versions_;
    std::vector<const ir::Var*> unused_;
};

}  // namespace parpy
