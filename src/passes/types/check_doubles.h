// Checks that no array of the call has elements of double precision, for devices without them
// (Dialect::has_double).
//
//     pre   kSurface, arguments known   post   the same program, unchanged
//     error P551   an array of float64 or complex128
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_doubles(PassContext& context);

}  // namespace parpy
