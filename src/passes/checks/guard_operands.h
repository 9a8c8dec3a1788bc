// Makes operators fail on operands for which they have no result: a power of integers (P426) with a
// negative exponent, as NumPy does; in kernels written by hand that are debugged, a division of
// integers (P429) by zero.
//
//     before  y[i] = n ** k[i]            after  exponent = k[i]
//                                                if exponent < 0: fail 0(exponent, i)
//                                                y[i] = n ** exponent
//
// Operands whose intervals exclude such values are left alone.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "passes/pass.h"

namespace parpy {

void guard_operands(PassContext& context);

}  // namespace parpy
