// Divisions of integers by constants as what a processor does in one or two cycles.
//
//     x % 8 and x // 8                       x & 7 and x >> 3, of negative x too
//     x %= 8 and x //= 8                     x &= 7 and x >>= 3
//     (i + 1) % 12, i in 0 … 11              i + 1 - 12 if i + 1 >= 12 else i + 1
//     (i - 1) % 12, i in 0 … 11              i - 1 + 12 if i - 1 < 0 else i - 1
//
// The latter where the dividend is made of sums and products alone, as it is written several times.
// Before and after: kMapped, CPU.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_divisions(PassContext& context);

}  // namespace parpy
