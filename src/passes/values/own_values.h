// Finds the names of arrays that may be given copies of their elements: no statement can tell these
// apart, since neither is stored to while the name refers to the elements.
#pragma once

#include <unordered_set>

#include "ir/ir.h"

namespace parpy {

// The subset of `names` of which every bind that makes no values may make a copy.
[[nodiscard]] std::unordered_set<const ir::Var*> copyable_names(
    const ir::Function& function, const std::unordered_set<const ir::Var*>& names);

}  // namespace parpy
