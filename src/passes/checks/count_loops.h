// Counts the iterations of loops whose variable could step over the end of its type, which would
// wrap around and never end.
//
//     before  for i in range(a, b, 4): s += i     after  i_count = …
//                                                        for i_number in range(i_count):
//                                                            i = a + i_number * 4
//                                                            s += i
//
// Left alone is a loop that provably ends in time: its bounds are known to be smaller, or its body
// uses the variable as a subscript, or it would take weeks to get there from where it begins.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void count_loops(PassContext& context);

}  // namespace parpy
