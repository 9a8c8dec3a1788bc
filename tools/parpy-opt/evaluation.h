// parpy-opt --eval: runs a program in the reference interpreter.
#pragma once

#include "flags.h"
#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy {

// Fills the arrays with a fixed pattern. Prints the memory of every array (in the order of
// addresses) and the function's result; false if it failed.
bool evaluate_and_print(const Arguments& arguments, const ir::Module& module, ir::Profile profile,
                        Diagnostics& diagnostics);

}  // namespace parpy
