// Puts the body of a called function in place of a call that parpy.builtin.inline marks, or that
// the mapping names a loop of, so that labels in it name loops of the caller; with a mapping also
// functions with Gpu blocks, which host code may then call; and functions that store slices of what
// they read, whose values may need scratch memory. In automatic mode also functions with loops over
// elements, which may run in parallel where they stand; and in loops that are or may be parallel
// functions that update elements: the loop may be a reduction. Not those that may read a variable
// before they assign it: it would have the value of the iteration before. Inlining stops at a
// limit, since code size grows with the number of paths to a helper.
//
//     before  inline scale(y[...], 2)          after  label "N"
//                                                     for i in range(n):
//                                                         y[i] *= 2
//
// A mark on a call that may not be evaluated (in `and`, `or`, a ternary or a `while` condition), or
// that would act before what is evaluated first, or read before it acts, means nothing: that stays
// a call.
//
// A mapping that names loops by their places ("j@5") is the automatic mode's: under it, calls are
// replaced as in automatic mode, or the places would be those of other loops.
//
// Before and after: kSurface.
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_calls(PassContext& context);

}  // namespace parpy
