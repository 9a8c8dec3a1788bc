// Inlines calls that parpy.builtin.inline marks, or whose functions have a loop that the mapping
// names, so that labels in the body name loops of the caller. With a mapping also functions with
// Gpu blocks, which host code may then call. Always functions that store slices of an array and
// read its other elements, whose values may need scratch memory. In automatic mode also functions
// with loops over elements, which may run in parallel in their caller; and, in loops that are or
// may be parallel, functions that update elements: the loop may be a reduction. It skips functions
// that may read a variable before they assign it, as they would read the value of the previous
// iteration. Inlining stops at a limit, since code size grows with the paths to a helper.
//
//     before  inline scale(y[...], 2)          after  label "N"
//                                                     for i in range(n):
//                                                         y[i] *= 2
//
// A mark is ignored on a call that may not be evaluated (in `and`, `or`, a ternary or a `while`
// condition), or whose effects would change their order with expressions that are evaluated before
// it: it stays a call.
//
// A mapping that names loops by their places ("j@5") comes from the automatic mode: calls are
// inlined as in automatic mode, since the places would name other loops otherwise.
//
// Before and after: kSurface.
#pragma once

#include "passes/pass.h"

namespace parpy {

void inline_calls(PassContext& context);

}  // namespace parpy
