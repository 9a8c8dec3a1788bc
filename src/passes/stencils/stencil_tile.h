// The tile of a block that computes several steps of a stencil on a GPU, and its distribution over
// the threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/stencils/stencils.h"
#include "analysis/traffic.h"

namespace parpy {

// Every thread holds rows × columns elements of each array. Lanes of a warp are side by side, the
// warps of a block one below the other; for arrays of one dimension each warp has a tile of its
// own.
struct StencilTile {
    std::int64_t rows = 1, columns = 1;  // of a thread
    std::int64_t warps = 1;              // of a block
    std::int64_t blocks = 1;             // that run on a multiprocessor at once
    std::int64_t steps = 1;              // of time
    double nanoseconds = 0;              // predicted, of all steps
    double plain = 0;                    // of a kernel for each nest of each step
    // The elements, and the correct ones, along each axis of the tile; the last one is columns.
    std::int64_t all[2] = {1, 1}, useful[2] = {1, 1};
};

// The tile that the cost model expects to be fastest; if none, `reason` says why. `always`: also if
// no time is gained.
[[nodiscard]] std::optional<StencilTile> plan_stencil_tile(const Stencil& stencil,
                                                           const Traffic& traffic, bool always,
                                                           std::string& reason);

// The size of the elements in bytes; 0 if the arrays have several types, or one that tiles do not
// support.
[[nodiscard]] std::int64_t element_bytes(const Stencil& stencil);
// The number of elements along each axis that some sweep writes, as far as known.
[[nodiscard]] std::vector<double> stencil_extents(const Stencil& stencil, const Traffic& traffic);
// Whether rows that warps exchange need two buffers, used in turns: if a step has one exchange
// alone, a warp could overwrite a row behind it that another warp still reads.
[[nodiscard]] bool alternates_edges(const Stencil& stencil);
// The number of arithmetic operations for an element in one sweep.
[[nodiscard]] double stencil_operations(const StencilSweep& sweep);

}  // namespace parpy
