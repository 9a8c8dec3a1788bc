// The resources of a loaded kernel, from which blocks are chosen, and its occupancy of the device.
#pragma once

#include <cstdint>

#include "runtime/executable.h"

namespace parpy {

struct KernelFacts {
    int registers = 0;              // of a thread
    std::int64_t shared_bytes = 0;  // of a block, without the launch's dynamic part
    int local_bytes = 0;            // of a thread
    int constant_bytes = 0;         // of the kernel
    int most_threads = 1024;
    int best_block = 256;     // threads per block with the highest occupancy
    int resident_blocks = 1;  // of `block` threads, on the device at once
};

// A second base class of executables on a device.
class HasKernels {
public:
    virtual ~HasKernels() = default;
    // The facts of the first kernel, launched with blocks of this size and this much shared memory.
    [[nodiscard]] virtual RuntimeError facts(unsigned block, unsigned shared_bytes,
                                             KernelFacts& facts) const = 0;
};

}  // namespace parpy
