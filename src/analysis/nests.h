// Perfect nests: loops each of which is all that the one before it contains.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// The outermost first.
using Nest = std::vector<ir::For*>;

[[nodiscard]] Nest nest_of(ir::For& outermost);

// What messages call these loops: `i`, or with its line, `i@7`, where several have one name.
[[nodiscard]] std::vector<std::string> shown_names(const std::vector<const ir::For*>& loops);

// Nothing in `body`, which a loop is around, is noticed outside of it but stores and assignments,
// and none of it ends that loop.
[[nodiscard]] bool only_computes(const ir::Body& body);

}  // namespace parpy
