// Makes a thread's loop over independent iterations run two of them at a time, and load what both
// need before either stores: the memory is asked for twice as much at once. A compiler may not do
// that by itself, for a store could change what the next iteration loads.
//
//     before  for i in range(b, n, 1024):     after  i_rest = b
//                 y[i] = x[i] + 1                    for i in range(b, n - 1024, 2048):
//                                                        i_next = i + 1024
//                                                        y_value = x[i] + 1
//                                                        y_value_next = x[i_next] + 1
//                                                        y[i] = y_value
//                                                        y[i_next] = y_value_next
//                                                        i_rest = i + 2048
//                                                    i = i_rest
//                                                    if i < n:
//                                                        y[i] = x[i] + 1
//
// Only loops whose iterations the mapping declares independent (LoopMapping::share), of a few loads
// and stores that may be taken apart like that, where the threads of a multiprocessor do not ask
// for enough at once by themselves, or neighbouring iterations load the same elements. Each
// iteration computes what it did.
//     pre   profile kTarget, CUDA                            post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void pair_iterations(PassContext& context);

}  // namespace parpy
