// Notes the loops of host code that launch kernels though their iterations are independent: a call
// that launches many kernels from one of these loops warns (Program::counted).
//
//     for i in range(66): for j in range(66) [parallel]: y[i, j] = x[i, j]
//     for i in range(66) noted 0: …
//
// The note is a site of the module (P314), whose text suggests an addition to the mapping. Changes
// nothing else. Before and after: kMapped; the user's mapping has been carried out and found legal.
#pragma once

#include "passes/pass.h"

namespace parpy {

void note_host_loops(PassContext& context);

}  // namespace parpy
