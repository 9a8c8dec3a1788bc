// Restricts the program to one part of a call: each nest runs the iterations of the part's own rows
// (part_text.h), and calls the run-time system to exchange rows or numbers.
//
//     s = 0.0                              s = 0.0
//     for i in range(1, 99):               parpy_part_array(site, 0, x)
//         s += x[i - 1] * x[i + 1]         s = parpy_part_f64(site, 1, s)
//                                          for i in range(50, 99):
//                                              s += x[i - 1] * x[i + 1]
//                                          s = parpy_part_f64(site, 2, s)
//
// If exchanges are spaced, the loop over time becomes two, of which the outer one exchanges.
//
//     for t in range(n): …                 for first in range(0, n, 8):
//                                              parpy_part_array(site, 0, x)
//                                              for t in range(first, min(first + 8, n)): …
//
// If a nest overlaps with the exchange, the first iteration of a group has a copy of its own.
//
//     for t in range(n):                   for first in range(0, n, 2):
//         for i in range(99): f(i)             parpy_part_array(site, 0, x)   begins the exchange
//                                              for i in range(51, 98): f(i)
//                                              parpy_part_array(site, 1, x)   waits for the rows
//                                              for i in range(50, 51): f(i)
//                                              for i in range(98, 99): f(i)
//                                              for t in range(first + 1, min(first + 2, n)): …
//
// Before and after: kLoops, no loop is mapped. The part was made from halos() of this program.
#pragma once

#include "passes/pass.h"

namespace parpy {

void partition_cpu_loops(PassContext& context);
void partition_cuda_loops(PassContext& context);

}  // namespace parpy
