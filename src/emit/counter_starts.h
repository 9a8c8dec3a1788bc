// Finds counters whose start must be hidden from NVRTC: if it knows the values of a counter that
// steps by more than one, or that inner loops start from, it may leave the loop after the first
// iteration (docs/explanation/gpu.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// The value of the variable of `loop` after its last iteration. A test for exactly this value is
// the only one that NVRTC understands. Nothing if the bounds are not constants, if a statement may
// leave the loop before, or if it updates elements at run-time distances.
[[nodiscard]] std::optional<std::int64_t> exact_end(const ir::For& loop);

// Whether the variable of `loop` must start at a hidden value: it has no exact end, and steps by
// more than one, has a loop inside, or updates elements at run-time distances. In loops that the
// mapping made, a thread's number is hidden enough; in kernels written by hand a condition may fix
// the thread.
[[nodiscard]] bool hides_start(const ir::For& loop, bool by_hand);

// The integers that a For or While carries from one iteration to the next: they must be hidden
// before the loop. Without an inner loop, an integer that changes by a single step of 1 need not
// be. In order of first appearance.
[[nodiscard]] std::vector<ir::Var*> hidden_counters(const ir::Stmt& loop);

}  // namespace parpy
