// The alternatives to the mapping that the automatic mode chooses, among which parpy.tune searches.
// Nothing is run or remembered here (runtime/calls/tunings.h).
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"
#include "support/diagnostic.h"

namespace parpy {

// A mapping with the other options that a search varies.
struct Tuned {
    Mapping mapping;
    bool automatic = false;  // the automatic mode chooses; `mapping` is empty
    bool restructure = false;
    std::int64_t max_unroll_count = 1;
    bool use_cuda_thread_block_clusters = false;
    std::int64_t max_thread_blocks_per_cluster = 8;
    friend bool operator==(const Tuned&, const Tuned&) = default;
};

[[nodiscard]] Tuned tuned_part(const Options& options);
[[nodiscard]] Options with_tuned(Options options, const Tuned& tuned);

struct Neighbour {
    std::string change;  // "8 threads for i@7"
    Tuned tuned;
    double slowdown = 1;  // it may take about this many times as long: fewer iterations run at once
    double starts = 0;    // launches of kernels, or starts of workers, per call
};

struct Neighbourhood {
    std::size_t loops = 0;     // all loops of the function
    std::size_t parallel = 0;  // those that may run in parallel
    Tuned start;               // the mapping of `options`, as one by hand
    std::vector<Neighbour> neighbours;
};

// The mappings one step away from that of `options`, or from the automatic mode's. Loops run in
// parallel only if that is proved or a reduction; under Legality::kTrust also if nothing is known.
// `workers`: the number of CPU threads. All other arguments are those of compile().
[[nodiscard]] Neighbourhood neighbourhood(const ir::Module& surface, const Signature& signature,
                                          const Options& options, std::int64_t workers,
                                          Diagnostics& diagnostics);

}  // namespace parpy
