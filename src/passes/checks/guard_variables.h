// Makes a read of a variable fail (P423) if the path taken has not assigned it, as Python does.
//
//     before  for i in range(n):              after  s_set = False
//                 s = x[i]                           for i in range(n):
//             y[0] = s                                   s = x[i]
//                                                        s_set = True
//                                                    if not s_set: fail 0()
//                                                    y[0] = s
//
// Only variables that some path leaves unassigned are watched; a loop whose constant bounds are not
// empty counts as running. Values carried between iterations of a parallel loop are not watched;
// legality='trust' promises that there are none.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_variables(PassContext& context);

}  // namespace parpy
