// How deeply a program nests.
#pragma once

#include "ir/ir.h"

namespace parpy::ir {

// Statements and expressions nest so deeply that recursion along them is to run on_deep_stack()
// (support/deep_stack.h). Recurses no deeper itself.
[[nodiscard]] bool nests_deeply(const Module& module);

}  // namespace parpy::ir
