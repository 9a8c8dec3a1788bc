// Decides the sign of a loop's subscripts once, before the loop, where it depends only on the
// loop's bounds.
//
//     before  for j in range(lo, hi):               after  j_negative: bool = lo < 0
//                 s += x[index(j, n)]                      for j in range(lo, hi):
//                                                              s += x[index(j, n) if j_negative
//                                                              else j]
//
// A subscript that only grows (or only falls) with the loop variable has its smallest value in the
// first or last iteration. One condition per loop suffices: the C compiler makes two loops of it,
// and the one that runs has plain subscripts, so that it vectorises. Before and after: kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void simplify_signs(PassContext& context);

}  // namespace parpy
