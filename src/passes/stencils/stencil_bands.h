// Writes a stencil (analysis/stencils) for the workers of a CPU: several steps at a time over bands
// of rows, in the arrays themselves.
//
//     before  for t in range(b, e): for i …: B[i] = f(A[i ± 1]);  for i …: A[i] = f(B[i ± 1])
//     after   for first in range(b, e, steps):
//                 for band … [workers]:   bands that lose rows on both sides from sweep to sweep
//                     for block …:        of a few rows, each sweep some rows further up
//                         for step …: the sweeps, over rows of the band and the block
//                 for gap … [workers]:    what is left between two bands: more rows in each sweep
//                     for step …: the sweeps, over rows of the gap
//
// A sweep keeps its distance to all sweeps that it must not pass: those that wrote what it reads,
// and those that read what it overwrites. Every iteration runs once, with the operands that it had:
// results are the same bit for bit, however many workers there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stencils/stencils.h"
#include "analysis/traffic.h"

namespace parpy {

// How many rows a sweep stays away from the ends of a band, by sweep of the first step, and how
// many more in each step that follows.
struct StencilSlope {
    std::vector<std::int64_t> rows;
    std::int64_t step = 0;
};
// At the lower end and at the upper one.
[[nodiscard]] StencilSlope lower_slope(const Stencil& stencil);
[[nodiscard]] StencilSlope upper_slope(const Stencil& stencil);

struct StencilBands {
    std::int64_t steps = 1;  // of time
    std::int64_t rows = 1;   // of a band, at least
    std::int64_t block = 1;  // rows of a block
};

// `reason` says why there are none. `always`: also where no time is gained.
[[nodiscard]] std::optional<StencilBands> plan_stencil_bands(const Stencil& stencil,
                                                             const Traffic& traffic, bool always,
                                                             std::string& reason);

// What takes the place of the loop over time.
[[nodiscard]] ir::Body band_code(ir::Module& module, const Stencil& stencil,
                                 const StencilBands& bands);

}  // namespace parpy
