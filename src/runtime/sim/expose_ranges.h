// Rewrites comparisons of a loop's counter to the form that LLVM's irce recognises as range checks.
//
//     before  if (x > 0 && x < n - 1)        after  if (x - 1 > -1 && x < n - 1)
//
// The threads of a row that pass all of them then have a loop of their own, without masks.
#pragma once

#include <llvm/IR/PassManager.h>

namespace parpy::sim {

struct ExposeRanges : llvm::PassInfoMixin<ExposeRanges> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

}  // namespace parpy::sim
