// Makes calls that nest too deeply fail (P424) instead of overflowing the thread's stack. Functions
// that can reach themselves get the lowest frame as an argument, and check it when they begin.
//
//     before  helper r(n: i64) -> i64:            after  helper r(n: i64, lowest_frame: i64) ->
//     i64:
//                 …                                          if $stack.pointer < lowest_frame:
//                 return 1 + r(n - 1)                            fail 0()
//                                                                return 0
//                                                            …
//                                                            return 1 + r(n - 1, lowest_frame)
//
// Callers outside of the cycle pass $stack.limit. The return behind the Fail serves devices, whose
// threads go on after it.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_recursion(PassContext& context);

}  // namespace parpy
