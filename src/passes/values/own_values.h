// Which names of arrays may be given copies of the elements that they stand for: nobody can tell
// them from the elements, since neither are stored to while the name stands for them.
#pragma once

#include <unordered_set>

#include "ir/ir.h"

namespace parpy {

// Of `names`, those for which every bind that makes no values may do so.
[[nodiscard]] std::unordered_set<const ir::Var*> copyable_names(
    const ir::Function& function, const std::unordered_set<const ir::Var*>& names);

}  // namespace parpy
