// Turns the mapping (label -> request) into a LoopMapping on each loop. Only this pass knows how
// parallelism is laid out on a machine: blocks and threads, or workers and SIMD lanes.
//
//     mapping {N: threads(64), M: threads(100)}
//     before   N: for i …:  M: for j …:
//     CUDA     for i …: [blocks, 64]       for j …: [threads, 128 in 1 block]
//     CPU      for i …: [workers, 64]      for j …: [vector]
//
// On CUDA a call that several threads make (Function::threads) counts as a loop over that many
// threads, inside of the loops around it.
//
//     pre   profile kLoops             post   profile kMapped; loops without a level are
//     sequential; CPU: no Gpu is left. CUDA: array code stands only in Gpu and parallel loops, none
//     of which is left by a return or break; with an empty mapping the whole function is one Gpu.
//     errors P029, P302 to P306, P308, P312; P309 reduce() on a loop that does not accumulate and
//     that fold_constants has not marked
#pragma once

#include "passes/pass.h"

namespace parpy {

void map_cpu_loops(PassContext& context);
void map_cuda_loops(PassContext& context);

}  // namespace parpy
