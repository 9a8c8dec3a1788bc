// The form of a program: its text without the parts that halos() describes. Two calls of one
// function with equal forms do the same for equal rows of their arrays, whatever the extents and
// row numbers are: if the rows of one call are a part of the other's, so are the results.
#pragma once

#include "ir/ir.h"
#include "parpy/halo.h"

namespace parpy {

// Fills Halos::form and Halos::Loop::position of the facts that halos_of() found in this program.
// The program is invalid afterwards: bounds of those loops, extents and subscripts are gone.
void take_form(ir::Module& module, Halos& halos);

}  // namespace parpy
