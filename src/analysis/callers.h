// Which functions call which.
#pragma once

#include <functional>
#include <unordered_set>

#include "ir/ir.h"

namespace parpy {

using FunctionSet = std::unordered_set<const ir::Function*>;

// The functions that satisfy `holds`, and those that call them, directly or through others.
[[nodiscard]] FunctionSet with_callers(const ir::Module& module,
                                       const std::function<bool(const ir::Function&)>& holds);

}  // namespace parpy
