// The rules that a program satisfies between passes. Each profile adds to or replaces rules of the
// one before.
#pragma once

#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy::ir {

enum class Profile {
    kSurface,  // as the frontend built it: types of variables and expressions may be unknown
    kValues,   // every type known, none weak, operands as ops.def says; kPyInt … kRound gone
    kTyped,    // as kValues; every array is a parameter or made by an Alloc: no Bind
    kLoops,   // as kTyped; no slices; subscripts non-negative, loop variables not assigned nor live
              // out
    kMapped,  // as kLoops; every parallel loop has a level, every reduction its list
    kKernels,  // entry: host code that launches; no parallel For and no Gpu left in it. Kernels:
               // For loops with level kBlocks/kThreads (CUDA) or kVector (CPU) inside
    kTarget,   // legalised: only nodes that the target's emitter prints (no `update`, no mapping
               // but kVector)
};

// Reports P901 for each violation; true if there was none.
bool verify(const Module& module, Profile profile, Diagnostics& diagnostics);

}  // namespace parpy::ir
