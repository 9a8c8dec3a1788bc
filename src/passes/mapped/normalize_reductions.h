// Reduces into a scalar instead of an element that perhaps no iteration updates: the element's
// subscripts may be out of bounds then, or name an element that another worker stores at the same
// time.
//
//     before  for j in range(m) [reduce(+ y[k[i]])]:
//                 if k[i] >= 0: y[k[i]] += x[j]
//     after   y_part, y_touched = 0.0, False
//             for j in range(m) [reduce(+ y_part, or y_touched)]:
//                 if k[i] >= 0:
//                     y_part += x[j]
//                     y_touched or= True
//             if y_touched: y[k[i]] += y_part
//
// If every iteration updates the element, `y_touched` is whether the loop has any iteration. The
// pass leaves alone elements that every iteration updates if the loop surely has one, and elements
// whose subscripts are always in range and that belong to one iteration of the parallel loops
// around. Before and after: kMapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_reductions(PassContext& context);

}  // namespace parpy
