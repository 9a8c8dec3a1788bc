// Counts the iterations of loops whose variable could overflow its type, which would wrap around
// and never end.
//
//     before  for i in range(a, b, 4): s += i     after  i_count = …
//                                                        for i_number in range(i_count):
//                                                            i = a + i_number * 4
//                                                            s += i
//
// A loop is left alone if it provably ends in time: its bounds are known to be smaller, or its body
// uses the variable as a subscript, or the loop would take weeks to reach the end of the type.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void count_loops(PassContext& context);

}  // namespace parpy
