// Perfect nests: each loop but the innermost contains nothing but the next one.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// Loops, the outermost first.
using Nest = std::vector<ir::For*>;

[[nodiscard]] Nest nest_of(ir::For& outermost);

// The names of these loops in messages: `i`, or `i@7`, with its line, if several have that name.
[[nodiscard]] std::vector<std::string> shown_names(const std::vector<const ir::For*>& loops);

// Whether `body`, inside a loop, has no effects outside of it except stores and assignments, and
// does not end that loop.
[[nodiscard]] bool only_computes(const ir::Body& body);

}  // namespace parpy
