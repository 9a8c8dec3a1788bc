// The resources of a loaded kernel, by which blocks are chosen, and how it fits its device.
#pragma once

#include <cstdint>

#include "runtime/executable.h"

namespace parpy {

struct KernelFacts {
    int registers = 0;              // of a thread
    std::int64_t shared_bytes = 0;  // of a block, what a launch asks for aside
    int local_bytes = 0;            // of a thread
    int constant_bytes = 0;         // of the kernel
    int most_threads = 1024;
    int best_block = 256;     // threads per block that keep the device busiest
    int resident_blocks = 1;  // of `block` threads that the device runs at once
};

// What executables on a device are besides.
class HasKernels {
public:
    virtual ~HasKernels() = default;
    // For the first kernel, launched on blocks of so many threads with so much shared memory.
    [[nodiscard]] virtual RuntimeError facts(unsigned block, unsigned shared_bytes,
                                             KernelFacts& facts) const = 0;
};

}  // namespace parpy
