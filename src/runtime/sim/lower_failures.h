// Lowers the failed checks of the simulator's text, as the text comes from Clang.
//
//     before  fail(site, values...);  ...            fail: raise(fiber(), linear(), site, values)
//     after   fail(fiber, linear, site, values...);  unreachable
//
// with the two of the thread found once at the beginning of what becomes part of a kernel. So the
// thread is nothing but values in a loop over threads, and a check costs one call of code.
// Of watched code, which wants to know the line, `fail` becomes part of the kernel instead.
#pragma once

namespace llvm {
class Module;
}

namespace parpy::sim {

void lower_failures(llvm::Module& module, bool watched);

}  // namespace parpy::sim
