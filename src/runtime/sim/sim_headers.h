// The simulator's own versions of CUDA headers that device code includes: NVIDIA's are for NVIDIA's
// compilers only. Their contents are in dialects/prelude/sim_fp16.inc and sim_groups.inc.
#pragma once

#include <span>

#include "emit/device_headers.h"

namespace parpy::sim {

// cuda_fp16.h: 16-bit floats, computed in float and rounded. cooperative_groups.h: blocks, warps,
// tiles of them and clusters, but no groups of all blocks of a grid.
[[nodiscard]] std::span<const DeviceHeader> own_headers();

}  // namespace parpy::sim
