// Looks up every label of the mapping in the program. A missing label is only noted, as one mapping
// serves several functions; a near miss is an error. The pass runs before any code is folded away:
// a label in a branch that the call's constants rule out is no mistake.
//
//     pre   any program                post   the same program, unchanged
//     error P301   the mapping names a label that no statement has, but one has a similar label
#pragma once

#include <string_view>

#include "passes/pass.h"

namespace parpy {

// Whether one label is probably a misspelling of the other: they differ in case or in blanks at
// their ends, or are words that differ in one letter. Numbers, as in 'M1' and 'M2', distinguish
// labels on purpose.
[[nodiscard]] bool are_alike(std::string_view a, std::string_view b);

void check_labels(PassContext& context);

}  // namespace parpy
