// Which parameters a program may store to. Works on a program as parsed: before types are inferred,
// and hence before it is known which variables are arrays.
#pragma once

#include "analysis/uses.h"

namespace parpy {

// The variables of the function whose elements it may store, under any name: a store to `v` after
// `v = x[1:]` is a store to `x`; the same holds of `t = (x, 1)` and of an object that has `x`.
// Arguments of calls, and the object whose method is called, may be stored to by the callee.
[[nodiscard]] VarSet possibly_stored(const ir::Function& function);

}  // namespace parpy
