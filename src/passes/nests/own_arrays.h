// Arrays that the program allocates: how their elements get values, for inline_producers and
// contract_arrays.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "ir/ir.h"

namespace parpy {

// The arrays that the program makes for itself, which no caller sees.
[[nodiscard]] std::unordered_set<const ir::Var*> own_arrays(const ir::Function& function);
// Whether the store assigns one element: no update, nothing atomic, no copy of several elements.
[[nodiscard]] bool is_plain(const ir::Store& store);
[[nodiscard]] std::size_t count_stores(ir::Function& function, const ir::Var& array);
// Whether anything but stores uses the array.
[[nodiscard]] bool is_mentioned(ir::Function& function, const ir::Var& array);
// Whether evaluation has no side effect; subscripts that are data may still be out of range.
[[nodiscard]] bool is_pure(const ir::Expr& value);
// Moves the Allocs from `place` on to the start of the entry, so that memory is allocated once for
// each call; returns the new place of the statement behind them.
std::size_t hoist_allocations(ir::Function& entry, ir::Body& stmts, std::size_t place);
// A new scalar variable for the stored value, with the array's name.
[[nodiscard]] ir::Var* scalar_like(ir::Module& module, const ir::Store& store);

}  // namespace parpy
