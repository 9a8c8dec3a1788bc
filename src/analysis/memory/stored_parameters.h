// Which parameters a program may store to, as it is written: before types are inferred, and so
// before it is known which variables are arrays.
#pragma once

#include "analysis/uses.h"

namespace parpy {

// The variables of the function that it may store elements of, under any name: `v = x[1:]` lets
// what is stored to `v` be stored to `x`, and so do `t = (x, 1)` and an object that has `x`.
// Arguments of calls, and the object whose method is called, may be stored to by the callee.
[[nodiscard]] VarSet possibly_stored(const ir::Function& function);

}  // namespace parpy
