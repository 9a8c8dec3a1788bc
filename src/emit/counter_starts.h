// Which counters start at a value that NVRTC must not see: where it knows the values of a counter
// that steps by more than one, or that loops inside start from, it may leave the loop after the
// first iteration (docs/explanation/gpu.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// The value that the variable of `loop` has behind its last iteration. NVRTC understands a test for
// that value alone. There is none where the bounds are no constants, or where something may leave
// the loop before.
[[nodiscard]] std::optional<std::int64_t> exact_end(const ir::For& loop);

// Whether the variable of `loop` must start at a hidden value: it has no exact end, and steps by
// more than one or has a loop inside. A thread's number is hidden enough in loops that the mapping
// made; in kernels written by hand a branch may say which thread it is.
[[nodiscard]] bool hides_start(const ir::For& loop, bool by_hand);

// The integers that a For or While hands from one iteration to the next: they must be hidden in
// front of the loop. Where no loop is inside, those that are changed by one step of 1 need not be.
// In order of first appearance.
[[nodiscard]] std::vector<ir::Var*> hidden_counters(const ir::Stmt& loop);

}  // namespace parpy
