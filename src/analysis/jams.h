// Finds the loops of which one thread may run several iterations side by side (unroll and jam).
// This pays because one load of an element in an inner sequential loop serves several of these
// iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// The most iterations of one loop in a thread.
inline constexpr std::int64_t kMostJammed = 8;

// An element that a sequential loop updates in place, without touching another element of its
// array. The loop runs at least once, so that a register may hold the element around it.
struct KeptElement {
    ir::For* loop = nullptr;
    ir::Var* array = nullptr;
    std::vector<ir::Expr*> indices;  // those of a store in the loop
};

struct Jam {
    std::vector<KeptElement> elements;
    std::int64_t most = 0;  // iterations of all loops in a thread; registers limit it
    // Per loop of `nest`: some load in a sequential loop is the same in all its iterations.
    std::vector<bool> shares;
};

// The jam of a nest of parallel loops directly in each other: the statements of the sequential
// loops in `nest.back()` may be run for several iterations before the loop goes on. Nothing if they
// may not, or if there is no sequential loop. The legality of the parallel loops is not checked.
[[nodiscard]] std::optional<Jam> jam_of(const std::vector<ir::For*>& nest);

}  // namespace parpy
