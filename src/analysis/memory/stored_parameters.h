// Which parameters a program may store to. Works on a program as parsed: before types are inferred,
// and hence before it is known which variables are arrays.
#pragma once

#include "analysis/uses.h"

namespace parpy {

// The variables of the function whose elements it may store, under any name: a store to `v` after
// `v = x[1:]` is a store to `x`; the same holds of `t = (x, 1)` and of an object that has `x`.
// The callee may store to arguments of calls, and to the object whose method is called.
[[nodiscard]] VarSet possibly_stored(const ir::Function& function);

}  // namespace parpy
