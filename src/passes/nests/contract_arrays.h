// Replaces an array that the program allocates by a scalar, where every load of an element follows
// the store of that element in the same iteration.
//
//     alloc t: f64[n]                    for i in range(n):
//     for i in range(n):                     t_1 = x[i] - y[i]
//         t[i] = x[i] - y[i]                 z[i] = t_1 * t_1
//         z[i] = t[i] * t[i]
//
// Loops around these loops may then run in parallel, as their iterations share no memory for the
// array. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void contract_arrays(PassContext& context);

// Whether the pass replaces the array, which the function allocates, by a scalar.
[[nodiscard]] bool is_contracted(ir::Function& function, const ir::Var& array);

}  // namespace parpy
