// Loops over selected elements become loops over all elements, with the condition of the selection,
// so that the program does not store the selected ones.
//
//     count = 0; k = 0                   count = 0
//     for i in range(n):                 for i in range(n):
//         if m[i]:                           if m[i]:
//             count += 1                         count += 1
//     for i in range(n):                 for i in range(n):
//         if m[i]:                           if m[i]:
//             t[k] = x[i]                        t_1 = x[i]
//             k += 1                             sum += t_1
//     for j in range(count):
//         sum += t[j]
//
// All uses of the array must be loads t[j] in such loops over all selected elements, which do not
// use `j` otherwise. The iterations are the same ones in the same order, so that results are the
// same bit for bit. Before and after: kLoops, no loop is mapped.
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_selections(PassContext& context);

}  // namespace parpy
