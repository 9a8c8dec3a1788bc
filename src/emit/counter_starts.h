// Which counters start at a value that NVRTC must not see: where it knows the values of a counter
// that steps by more than one, it may leave the loop after the first iteration (docs/gpu.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// The value that the variable of `loop` has behind its last iteration. A test for that value alone
// is understood. Nothing where the compiler does not know the iterations, something may leave the
// loop before, or the variable meets every value up to `end`.
[[nodiscard]] std::optional<std::int64_t> exact_end(const ir::For& loop);

// Whether the variable of `loop` must start at a hidden value.
[[nodiscard]] bool hides_start(const ir::For& loop);

// The integers that a For or While hands from one iteration to the next, stepping by something else
// than 1 or an element: they must be hidden in front of it. In order of first appearance.
[[nodiscard]] std::vector<ir::Var*> hidden_counters(const ir::Stmt& loop);

}  // namespace parpy
