// Lowers the failed checks of the simulator's text, directly after Clang.
//
//     before  fail(site, values...);  ...            fail: raise(fiber(), linear(), site, values)
//     after   fail(fiber, linear, site, values...);  unreachable
//
// The first two arguments are computed once at the beginning of code inlined into a kernel. So the
// thread is a mere value in a loop over threads, and a check costs one call. In watched code, which
// needs the line, `fail` is inlined into the kernel instead.
#pragma once

namespace llvm {
class Module;
}

namespace parpy::sim {

void lower_failures(llvm::Module& module, bool watched);

}  // namespace parpy::sim
