// Updates of one element by several iterations of a loop, which atomics make legal.
#pragma once

#include <vector>

#include "analysis/memory/dependences.h"
#include "analysis/updates.h"

namespace parpy {

// The updates in `loop`, called functions included, that must be atomic for its iterations to run
// in parallel; `facts` are the loop's. Empty if atomics do not make it legal: there are other
// conflicts; elements are complex or wider than 8 bytes; or, under `deterministic`, they are sums
// of floats, whose order changes the result.
[[nodiscard]] std::vector<Update> scattered_updates(ir::For& loop, const LoopFacts& facts,
                                                    bool deterministic);

// The updates that may meet others of their kind in a loop that is neither proved nor refuted. If
// they are atomic, none of them is lost when the loop runs in parallel.
[[nodiscard]] std::vector<Update> updates_that_meet(ir::For& loop, const LoopFacts& facts,
                                                    bool deterministic);

// Whether all dependences of the loop are between reads and updates by a minimum or maximum, as in
// shortest paths: an update keeps an element that is at least as good as the new value, so that the
// values decide which conflicts occur.
[[nodiscard]] bool only_relaxes(ir::For& loop, const LoopFacts& facts);

}  // namespace parpy
