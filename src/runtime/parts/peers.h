// Which GPUs of this process may read and write each other's memory.
#pragma once

#include <cstdint>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Whether work on `device` may access memory of `other`; true if they are the same. False if the
// environment variable PARPY_PEER_ACCESS is 0. Copies between devices need no access: without it
// the driver copies through host memory.
[[nodiscard]] bool can_access(const Device& device, const Device& other);

// Lets work on each of the two access the memory of the other, if possible, whether allocated
// before or after. Does it once for two devices. Thread-safe.
void let_access(const Device& a, const Device& b, RuntimeError& error);

// Enqueues a copy on `stream`, of the device of `to`: after the work on the default stream of the
// other device now, and before its later work. The devices may be the same.
[[nodiscard]] RuntimeError copy_between(const Device& to_device, DevicePointer to,
                                        const Device& from_device, DevicePointer from,
                                        std::size_t bytes, Stream stream);

}  // namespace parpy::cuda
