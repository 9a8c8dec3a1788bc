// Inlines functions that return arrays: the returned array becomes a name of the caller.
//
//     before  make t: f64[1] = twice(x[...])        after  make t: f64[1] = x[:] * 2.0
//             helper twice(v: f64[5]):
//                 return v[:] * 2.0
//
// Such a function returns only at its end (else P228), and does not call itself.
//
// A function that returns a number is inlined, too, if it makes arrays of sizes that are no
// constants, since only the entry has such memory. It must store to no arrays but its own, return
// at its end alone, and be called where the call is always evaluated.
//     pre   profile kValues     post   kValues; no call returns an array
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_arrays(PassContext& context);

}  // namespace parpy
