// Writes a stencil (analysis/stencils) for the workers of a CPU: several steps at a time over bands
// of rows, in the original arrays.
//
//     before  for t in range(b, e): for i …: B[i] = f(A[i ± 1]);  for i …: A[i] = f(B[i ± 1])
//     after   for first in range(b, e, steps):
//                 for band … [workers]:   bands that lose rows on both sides from sweep to sweep
//                     for block …:        of a few rows, each sweep some rows further up
//                         for step …: the sweeps, over rows of the band and the block
//                 for gap … [workers]:    the rows between two bands: more of them in each sweep
//                     for step …: the sweeps, over rows of the gap
//
// A sweep keeps its distance to all sweeps that it must not overtake: those that wrote the elements
// that it reads, and those that read the elements that it overwrites. Every iteration runs once,
// with the same operands: results are the same bit for bit, for any number of workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stencils/stencils.h"
#include "analysis/traffic.h"

namespace parpy {

// The distance of a sweep from the ends of a band, in rows, by sweep of the first step, and the
// additional distance in each later step.
struct StencilSlope {
    std::vector<std::int64_t> rows;
    std::int64_t step = 0;
};
// The slopes at the lower and at the upper end.
[[nodiscard]] StencilSlope lower_slope(const Stencil& stencil);
[[nodiscard]] StencilSlope upper_slope(const Stencil& stencil);

struct StencilBands {
    std::int64_t steps = 1;  // of time
    std::int64_t rows = 1;   // of a band, at least
    std::int64_t block = 1;  // rows of a block
};

// If there is no plan, `reason` says why. `always`: also if no time is gained.
[[nodiscard]] std::optional<StencilBands> plan_stencil_bands(const Stencil& stencil,
                                                             const Traffic& traffic, bool always,
                                                             std::string& reason);

// The code that replaces the loop over time.
[[nodiscard]] ir::Body band_code(ir::Module& module, const Stencil& stencil,
                                 const StencilBands& bands);

}  // namespace parpy
