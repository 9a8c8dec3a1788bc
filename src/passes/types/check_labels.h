// Checks that every label of the mapping stands somewhere in the program. This must happen before
// anything is folded away: a label in a branch that the call's constants rule out is no mistake.
//
//     pre   any program                post   the same program, unchanged
//     error P301   the mapping names a label that no statement carries
#pragma once

#include "passes/pass.h"

namespace parpy {

void check_labels(PassContext& context);

}  // namespace parpy
