// How deeply a program nests.
#pragma once

#include "ir/ir.h"

namespace parpy::ir {

// Whether statements and expressions nest so deeply that recursion along them must run
// on_deep_stack() (support/deep_stack.h). Needs no deep stack itself.
[[nodiscard]] bool nests_deeply(const Module& module);

}  // namespace parpy::ir
