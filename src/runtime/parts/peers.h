// Which GPUs of this process may read and write each other's memory.
#pragma once

#include <cstdint>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Whether work on `device` may touch memory of `other`; true of one and the same. Never where the
// environment variable PARPY_PEER_ACCESS is 0. Copies between devices need no access: without it
// the driver takes them through memory of the host.
[[nodiscard]] bool can_access(const Device& device, const Device& other);

// Lets work on each of the two touch the memory of the other, where it can: what was allocated
// before, and what will be. Does it once for two devices. Thread-safe.
void let_access(const Device& a, const Device& b, RuntimeError& error);

}  // namespace parpy::cuda
