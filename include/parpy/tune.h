// Mappings worth trying in the place of the one that the automatic mode chooses: what parpy.tune
// searches among. Nothing is run here, and nothing is remembered (runtime/calls/tunings.h).
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"
#include "support/diagnostic.h"

namespace parpy {

// A mapping with the options that a search varies beside it.
struct Tuned {
    Mapping mapping;
    bool automatic = false;  // what the automatic mode chooses; `mapping` is empty
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
    double slowdown = 1;  // it may take about so many times as long: fewer iterations run at once
    double starts = 0;    // of kernels, or of loops on workers, per call
};

struct Neighbourhood {
    std::size_t loops = 0;     // of the function
    std::size_t parallel = 0;  // of them, that may run in parallel
    Tuned start;               // what `options` ask for, as a mapping by hand
    std::vector<Neighbour> neighbours;
};

// The mappings that are one step away from that of `options`, or from the automatic mode's. Loops
// run in parallel only where that is proved or a reduction, under Legality::kTrust also where
// nothing is known. `workers`: the threads of a CPU. All other arguments are those of compile().
[[nodiscard]] Neighbourhood neighbourhood(const ir::Module& surface, const Signature& signature,
                                          const Options& options, std::int64_t workers,
                                          Diagnostics& diagnostics);

}  // namespace parpy
