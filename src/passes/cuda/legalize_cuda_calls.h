// A call that stores to arrays must be made once per block, but every thread needs its result: one
// thread calls, and passes the result on through shared memory.
//
//     before  s = g(x[...])              after   call_result[0] = g(x[...])
//                                                s = call_result[0]
//
// A call that several threads make (Function::threads) becomes a statement of its own, which those
// threads execute; the other threads of the block get its result in the same way.
//
//     before  y[i] = 2 * f(x, i)         after   if $thread.x < 32: call_result = f(x, i)
//                                                call_result_f64[0] = call_result
//                                                call_result = call_result_f64[0]
//                                                y[i] = 2 * call_result
//
//     pre   profile kKernels, CUDA levels       post   the same; block-level code makes such calls
//     only in stores and call statements, which one thread executes
#pragma once

#include "passes/pass.h"

namespace parpy {

void legalize_cuda_calls(PassContext& context);

}  // namespace parpy
