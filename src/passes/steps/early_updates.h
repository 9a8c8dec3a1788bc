// Moves updates of a step by earlier steps to the ends of those: a factorization that looks left
// becomes one that looks right, whose updates are many and short.
//
//     for j in range(n):                               for j in range(n):
//         for i in range(j, n):                            a[j + 1 : n, j] /= …
//             for k in range(j):                           for later in range(j + 1, n):
//                 a[i, j] -= a[i, k] * a[j, k]                 for i in range(later, n):
//         a[j + 1 : n, j] /= …                                     a[i, later] -= a[i, j] *
//         a[later, j]
//
// Each element gets the same updates in the same order.
#pragma once

#include "analysis/nests.h"
#include "ir/ir.h"

namespace parpy {

class EarlyUpdates {
public:
    EarlyUpdates(ir::Module& module, ir::For& loop);

    // Whether a step begins with updates by all earlier ones.
    [[nodiscard]] bool found() const { return !nest_.empty(); }
    // The loops around the loop over earlier steps, which must be independent.
    [[nodiscard]] Nest around() const { return {nest_.begin(), nest_.end() - 1}; }

    // Loops in which `updates`, of a later step by an early one, and `others`, the steps in
    // between, must not conflict in any iteration of `pair`.
    struct Question {
        ir::For* loops = nullptr;
        ir::For* pair = nullptr;
        ir::Body updates, others;
    };
    [[nodiscard]] Question question();

    void apply();

private:
    ir::Body updates(ir::Var& later, ir::Var& early);

    ir::Module& module_;
    ir::For& loop_;
    Nest nest_;  // the innermost loop goes over earlier steps
};

}  // namespace parpy
