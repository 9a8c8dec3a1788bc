// Makes operators fail where an operand turns out to be one that has no result: a power of an
// integer (P426) where the exponent is negative, as NumPy does; in kernels written by hand that are
// debugged, a division of integers (P429) by zero.
//
//     before  y[i] = n ** k[i]            after  exponent = k[i]
//                                                if exponent < 0: fail 0(exponent, i)
//                                                y[i] = n ** exponent
//
// Operands that the intervals prove are left alone.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_operands(PassContext& context);

}  // namespace parpy
