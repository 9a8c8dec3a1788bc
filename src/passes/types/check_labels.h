// Looks for every label of the mapping in the program. Those that do not stand there are noted, for
// one mapping serves several functions; a near miss is an error. This must happen before anything
// is folded away: a label in a branch that the call's constants rule out is no mistake.
//
//     pre   any program                post   the same program, unchanged
//     error P301   the mapping names a label that no statement carries, but one that is like it
#pragma once

#include <string_view>

#include "passes/pass.h"

namespace parpy {

// Whether one label is mistaken for the other: they differ in case or in blanks at their ends, or
// are words that one letter tells apart. Numbers, as in 'M1' and 'M2', tell labels apart on
// purpose.
[[nodiscard]] bool are_alike(std::string_view a, std::string_view b);

void check_labels(PassContext& context);

}  // namespace parpy
