// Finds the loops of which one thread may run several iterations side by side (unroll and jam).
// This pays because an element that a sequential loop inside loads for one iteration is loaded for
// the others with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// Iterations of one loop in a thread.
inline constexpr std::int64_t kMostJammed = 8;

// An element that a sequential loop updates in place, and touches nothing else of its array: the
// loop runs at least once, so that the element may be kept in a register around it.
struct KeptElement {
    ir::For* loop = nullptr;
    ir::Var* array = nullptr;
    std::vector<ir::Expr*> indices;  // those of a store in the loop
};

struct Jam {
    std::vector<KeptElement> elements;
    std::int64_t most = 0;  // iterations of all loops in a thread, which has so many registers
    // Per loop of `nest`: some element that a sequential loop loads is the same in all iterations.
    std::vector<bool> shares;
};

// The statements of sequential loops in `nest.back()`, a body of parallel loops that stand directly
// in each other, may be run for several iterations before the loop goes on. Nothing where that is
// not so, or where there is no sequential loop. Whether the parallel loops are legal is not asked.
[[nodiscard]] std::optional<Jam> jam_of(const std::vector<ir::For*>& nest);

}  // namespace parpy
