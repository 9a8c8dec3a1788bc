// Makes a thread's loop over independent iterations run two of them at a time, and load the
// operands of both before either stores: this doubles the memory requests in flight. A compiler may
// not do this by itself, as a store could change an element that the next iteration loads.
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
// The pass acts on loops whose iterations the mapping declares independent (LoopMapping::share),
// with a few loads and stores that may be separated like this, if the threads of a multiprocessor
// alone have too few requests in flight, or neighbouring iterations load the same elements. Each
// iteration computes the same values.
//     pre   profile kTarget, CUDA                            post   the same
#pragma once

#include "passes/pass.h"

namespace parpy {

void pair_iterations(PassContext& context);

}  // namespace parpy
