// The tile of sums that a block of GPU threads computes, and its distribution over the threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/contractions/contractions.h"
#include "analysis/contractions/sizes.h"

namespace parpy {

struct KernelTile {
    std::int64_t rows = 0, columns = 0;  // of a block; multiples of 32
    std::int64_t products = 0;           // of a sum, that are in shared memory at a time
    std::int64_t stages = 0;             // such parts that are there or being copied
    std::int64_t threads = 0;
    bool matrices = false;  // warps multiply matrices (kMma), else each thread numbers
    // Sums of a warp, or of a thread.
    std::int64_t own_rows = 0, own_columns = 0;
    double nanoseconds = 0;  // of all tiles, as the cost model expects
};

// The tile that the cost model expects to be fastest among those that `shared_bytes` of shared
// memory hold; if none, `reason` says why loops are better.
[[nodiscard]] std::optional<KernelTile> plan_kernel_tile(const Contraction& contraction,
                                                         const ContractionSizes& sizes,
                                                         std::int64_t shared_bytes,
                                                         std::string& reason);

}  // namespace parpy
