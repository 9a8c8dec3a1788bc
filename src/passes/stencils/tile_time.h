// Computes several steps of a loop over time at once, one part of the arrays after the other
// (analysis/stencils): a step reads the elements that the previous step wrote from registers or
// caches rather than from memory.
//
//     for t in range(1, n):
//         for i in range(1, m - 1): B[i] = f(A[i - 1], A[i], A[i + 1])
//         for i in range(1, m - 1): A[i] = f(B[i - 1], B[i], B[i + 1])
//
// CUDA: kernels over tiles that overlap, for all steps but the last one (stencil_kernel.h). CPU:
// bands of rows that become narrower from sweep to sweep, and then the rows between them
// (stencil_bands.h). Each element is computed by the same operations from the same operands:
// results are the same bit for bit. The pass acts if the cost model expects a gain; explain
// describes its choice, or the condition that is missing.
//     pre   profile kMapped, automatic mode                  post   the same
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"
#include "passes/pass.h"

namespace parpy {

void tile_cpu_time(PassContext& context);
void tile_cuda_time(PassContext& context);

// The text that explain shows beside a loop over time.
struct TimeNote {
    const ir::For* loop = nullptr;
    std::string text;
};
[[nodiscard]] std::vector<TimeNote> cpu_time_notes(PassContext& context);
[[nodiscard]] std::vector<TimeNote> cuda_time_notes(PassContext& context);

}  // namespace parpy
