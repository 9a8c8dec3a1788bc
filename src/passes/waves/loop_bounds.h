// Bounds of the loops of a nest in a new order: from linear inequalities on the variables of the
// loops, the bounds of each loop by the variables of the loops around it (Fourier-Motzkin
// elimination). The loops with these bounds have exactly the integer points that satisfy the
// inequalities; bounds that follow from others are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/integers/index_math.h"
#include "analysis/integers/integer_sets.h"
#include "ir/builder.h"

namespace parpy {

// sum of by_loop[i] * variable i + rest >= 0; the terms of `rest` do not change in the nest.
struct LoopInequality {
    std::vector<std::int64_t> by_loop;
    Linear rest;
};

// sum of terms * factors + constant, as one expression of the terms.
struct WeightedSum {
    std::vector<std::pair<ir::Expr*, std::int64_t>> terms;
    std::int64_t constant = 0;
};
[[nodiscard]] ir::Expr* expression(IndexMath& math, const WeightedSum& sum);

class LoopBounds {
public:
    // Inequalities on `loops` variables, the outermost loop first, that bound each variable. False
    // if elimination would make too many inequalities or large numbers.
    [[nodiscard]] bool eliminate(std::size_t loops, std::vector<LoopInequality> inequalities);

    // The first value of a loop and the one after the last one, as new expressions of `variables`.
    struct Ends {
        ir::Expr* begin = nullptr;
        ir::Expr* end = nullptr;
    };
    [[nodiscard]] Ends ends(ir::Builder& builder, std::size_t loop,
                            const std::vector<ir::Var*>& variables) const;

private:
    std::vector<std::vector<LoopInequality>> of_;  // by the innermost loop that they mention
};

}  // namespace parpy
