// Makes every assertion a branch that fails, or drops it.
//
//     before  assert n > 0, "empty"             in a loop over i
//     after   if not (n > 0): fail 0(i)         with assertions checked (opts.check, debug=True)
//
//     pre   profile kTyped     post   kTyped, without assertions. An assertion of a kernel is
//     reported after the kernel has run: its threads go on.
#pragma once

#include "passes/pass.h"

namespace parpy {

void lower_assertions(PassContext& context);

}  // namespace parpy
