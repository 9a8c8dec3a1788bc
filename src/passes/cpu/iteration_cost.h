// How long one iteration of a loop takes, as an expression for the code in front of it: the
// decision whether to hand iterations to other threads is made with the sizes of each call.
//
//     for i in range(n):                 0.4 + 0.9 * f64(m)
//         for j in range(m):
//             y[i] += x[i, j]
//
// Loops inside whose ranges depend on the loop's variable count as in its middle iteration; those
// that depend on more than is known in front of the loop, as often as Traffic estimates. For a
// loop that says what an iteration costs (For::cost) nothing is asked.
#pragma once

#include "analysis/traffic.h"
#include "ir/builder.h"

namespace parpy {

// Nanoseconds on one core, an f64. `iterations`: of `loop`, an expression for code in front of it.
[[nodiscard]] ir::Expr* iteration_cost(ir::Builder& builder, const ir::For& loop,
                                       const ir::Expr& iterations, const Traffic& traffic);

}  // namespace parpy
