// Makes a power of an integer fail (P426) where its exponent turns out to be negative, as NumPy
// does: the result would be no integer.
//
//     before  y[i] = n ** k[i]            after  exponent = k[i]
//                                                if exponent < 0: fail 0(exponent, i)
//                                                y[i] = n ** exponent
//
// Exponents that the intervals prove are left alone.
//     pre   profile kMapped     post   kMapped
#pragma once

#include "pass.h"

namespace parpy {

void guard_powers(PassContext& context);

}  // namespace parpy
