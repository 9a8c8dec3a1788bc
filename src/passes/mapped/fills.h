// Maps the loops that fill a new array of the host with a constant, as in np.zeros. They have no
// labels, so that a mapping by hand does not name them.
#pragma once

#include "ir/ir.h"

namespace parpy {

void map_fills(ir::Body& stmts);

}  // namespace parpy
