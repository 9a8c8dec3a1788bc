// Headers of CUDA's that device code includes and that the simulator has for itself: NVIDIA's are
// written for its own compilers. Their contents are in dialects/prelude/sim.inc.
#pragma once

#include <span>

#include "emit/device_headers.h"

namespace parpy::sim {

// cuda_fp16.h: numbers of 16 bits, computed in float and rounded. cooperative_groups.h: blocks,
// warps, tiles of them and clusters; no groups of all blocks of a grid.
[[nodiscard]] std::span<const DeviceHeader> own_headers();

}  // namespace parpy::sim
