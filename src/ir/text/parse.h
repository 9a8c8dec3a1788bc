// Reads the text form that print.h writes (grammar: docs/reference/ir.md). For tests, parpy-opt and
// people.
#pragma once

#include <string_view>

#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy::ir {

// Reads `text` into `module`, which must be empty. `module.sources[0]` is the text itself, under
// `file_name`, and every node's span points into it, so that diagnostics of passes show the IR
// line; a statement followed by `@line:column` has that span instead, in a second source without
// text. Types that follow from ops.def are filled in. False after errors (P801, located in the
// text).
bool parse(std::string_view text, std::string_view file_name, Module& module,
           Diagnostics& diagnostics);

}  // namespace parpy::ir
