// What check_bounds and check_legality share: how an iteration and an element are written, and how
// conditions on the arguments of the call reach the module.
#pragma once

#include <string>
#include <vector>

#include "analysis/memory/dependences.h"

namespace parpy {

// "iteration t=0, i=1"
[[nodiscard]] std::string iteration_text(const Occurrence& instance);
// "a[1, 2]"
[[nodiscard]] std::string element_text(const Occurrence& instance);

// Makes the conditions, on parameter symbols, requirements of the module.
void add_requirements(ir::Module& module, const Accesses& accesses,
                      const std::vector<Alternatives>& conditions);

}  // namespace parpy
