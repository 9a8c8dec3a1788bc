// Which values loops may compute twice.
#pragma once

#include "ir/ir.h"

namespace parpy {

// Whether its value has the same bits wherever it is computed: elements, arithmetic and roots.
// Neither `fast_math` nor flags of the user's may fuse them.
[[nodiscard]] bool is_exact(const ir::Expr& expr);

}  // namespace parpy
