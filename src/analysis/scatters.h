// Updates that several iterations of a loop may make of one element: what atomics are for.
#pragma once

#include <vector>

#include "analysis/memory/dependences.h"
#include "analysis/updates.h"

namespace parpy {

// The updates in `loop` that have to be atomic for its iterations to run in parallel, whose
// conflicts are `facts`, those in called functions included. Empty if that does not make it legal:
// there are other conflicts; elements are complex or wider than 8 bytes; or the order shows in sums
// of floats, under `deterministic`.
[[nodiscard]] std::vector<Update> scattered_updates(ir::For& loop, const LoopFacts& facts,
                                                    bool deterministic);

// For a loop of which it is not known whether it may run in parallel: the updates that may meet
// others of their kind. Atomic, none of those is lost if it does.
[[nodiscard]] std::vector<Update> updates_that_meet(ir::For& loop, const LoopFacts& facts,
                                                    bool deterministic);

// Whether what ties the iterations of a loop together are updates by a minimum or maximum of what
// other iterations read: an element that is as good as that stays what it is, so that values
// decide.
[[nodiscard]] bool only_relaxes(ir::For& loop, const LoopFacts& facts);

}  // namespace parpy
