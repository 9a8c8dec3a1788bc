// Arrays that the program makes for itself: how their elements get values, for inline_producers and
// contract_arrays.
#pragma once

#include <cstddef>

#include "ir/ir.h"

namespace parpy {

// It gives one element a value of the array's type: no update, nothing atomic, no copy of several.
[[nodiscard]] bool is_plain(const ir::Store& store);
[[nodiscard]] std::size_t count_stores(ir::Function& function, const ir::Var& array);
// Anything but stores.
[[nodiscard]] bool is_mentioned(ir::Function& function, const ir::Var& array);
// Evaluating it is noticed nowhere: subscripts that data give may be wrong.
[[nodiscard]] bool is_pure(const ir::Expr& value);
// A scalar for the value that is stored, under the array's name.
[[nodiscard]] ir::Var* scalar_like(ir::Module& module, const ir::Store& store);

}  // namespace parpy
