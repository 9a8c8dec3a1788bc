// Memory that passes allocate for values of arrays: on the stack of a thread, or at the entry of
// the function.
#pragma once

#include "analysis/uses.h"
#include "ir/builder.h"

namespace parpy {

constexpr std::int64_t kMostLocalBytes = 2 << 10;  // of one array: threads of a GPU have few

// Gives the array, whose extents are known, the strides of C order; `out` sets variables for those
// that are not constant.
void row_major(ir::Builder& b, ir::Var& array, ir::Body& out);

// Whether the expression has its value when the function is entered: it is made of parameters that
// are never assigned. `uses`: those of the function's body.
[[nodiscard]] bool known_at_entry(const ir::Expr& expr, const ir::Function& function,
                                  const Uses& uses);

}  // namespace parpy
