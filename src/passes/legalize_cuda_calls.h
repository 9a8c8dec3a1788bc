// A call that stores to arrays must be made once per block, but its result is wanted by every
// thread: one thread makes it and hands the result over in shared memory.
//
//     before  s = g(x[...])              after   call_result[0] = g(x[...])
//                                                s = call_result[0]
//
//     pre   profile kKernels, CUDA levels       post   the same; block-level code makes such calls
//     only in stores and call statements, which one thread executes
#pragma once

#include "pass.h"

namespace parpy {

void legalize_cuda_calls(PassContext& context);

}  // namespace parpy
