// Two passes that check that no array has elements of double precision, for devices without them
// (Dialect::has_double): check-doubles the arrays of the call, check-new-doubles those that the
// program makes.
//
//     pre   kSurface, arguments known; kLoops   post   the same program, unchanged
//     error P551   an array of float64 or complex128
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_doubles(PassContext& context);
void check_new_doubles(PassContext& context);

}  // namespace parpy
