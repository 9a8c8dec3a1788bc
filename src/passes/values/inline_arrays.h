// Puts functions that return arrays in place of their calls: what they return becomes a name of the
// caller.
//
//     before  make t: f64[1] = twice(x[...])        after  make t: f64[1] = x[:] * 2.0
//             helper twice(v: f64[5]):
//                 return v[:] * 2.0
//
// A function returns an array at its end alone (else P228), and does not call itself.
//
// So are functions that return numbers and make arrays of sizes that are no constants: memory of
// such sizes is the entry's. They are those that store to nothing but arrays of their own, return
// at their end alone, and are called where the call is evaluated in any case.
//     pre   profile kValues     post   kValues; no call has an array for its value
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_arrays(PassContext& context);

}  // namespace parpy
