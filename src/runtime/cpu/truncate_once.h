// LLVM pass "truncate-once", for x86-64: a conversion of floats to integers and the tests that
// give values out of range the lowest integer become the instruction that does both.
//
//     before  x >= -2^63 && x < 2^63 ? (i64)x : -2^63        after  vcvttsd2si, vcvttpd2qq
//
// Also for vectors, where the processor has such an instruction.
#pragma once

#include <llvm/IR/PassManager.h>

namespace parpy {

struct TruncateOnce : llvm::PassInfoMixin<TruncateOnce> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

}  // namespace parpy
