// The duration of one iteration of a loop, as an expression for the code that precedes the loop:
// the decision whether to hand iterations to other threads uses the sizes of each call.
//
//     for i in range(n):                 0.4 + 0.9 * f64(m)
//         for j in range(m):
//             y[i] += x[i, j]
//
// An inner loop whose range depends on the loop's variable counts as in the middle iteration; one
// whose range is unknown before the loop counts with the number of iterations that Traffic
// estimates. Where a loop states the cost of an iteration (For::cost), that is used.
#pragma once

#include "analysis/traffic.h"
#include "ir/builder.h"

namespace parpy {

// Nanoseconds on one core, an f64. `iterations` of `loop` are an expression for code that precedes
// it.
[[nodiscard]] ir::Expr* iteration_cost(ir::Builder& builder, const ir::For& loop,
                                       const ir::Expr& iterations, const Traffic& traffic);

}  // namespace parpy
