// How a GPU computes several steps of a stencil at a time: the tile of a block, and who holds which
// of its elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/stencils/stencils.h"
#include "analysis/traffic.h"

namespace parpy {

// Every thread holds rows × columns elements of each array. Lanes of a warp lie side by side, the
// warps of a block one below the other; of arrays with one dimension each warp has a tile of its
// own.
struct StencilTile {
    std::int64_t rows = 1, columns = 1;  // of a thread
    std::int64_t warps = 1;              // of a block
    std::int64_t blocks = 1;             // that run on a multiprocessor at once
    std::int64_t steps = 1;              // of time
    double nanoseconds = 0;              // predicted, of all steps
    double plain = 0;                    // of a kernel for each nest of each step
    // By axis of the tile, the last one being columns: elements, and those that come out right.
    std::int64_t all[2] = {1, 1}, useful[2] = {1, 1};
};

// The tile that the cost model expects to be fastest; `reason` says why there is none. `always`:
// also where no time is gained.
[[nodiscard]] std::optional<StencilTile> plan_stencil_tile(const Stencil& stencil,
                                                           const Traffic& traffic, bool always,
                                                           std::string& reason);

// Bytes of the elements; 0 if the arrays have several types, or one that tiles do not hold.
[[nodiscard]] std::int64_t element_bytes(const Stencil& stencil);
// Elements along each axis that some sweep writes, as far as known.
[[nodiscard]] std::vector<double> stencil_extents(const Stencil& stencil, const Traffic& traffic);
// Arithmetic of an element in one sweep.
[[nodiscard]] double stencil_operations(const StencilSweep& sweep);

}  // namespace parpy
