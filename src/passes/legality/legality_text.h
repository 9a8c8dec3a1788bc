// Code that check_bounds and check_legality share: adds conditions on the arguments of the call to
// the module.
#pragma once

#include <vector>

#include "analysis/memory/dependences.h"

namespace parpy {

// Makes the conditions, on parameter symbols, requirements of the module.
void add_requirements(ir::Module& module, const Accesses& accesses,
                      const std::vector<Alternatives>& conditions);

}  // namespace parpy
