// LLVM passes before and behind the loop vectoriser.
#pragma once

#include <llvm/IR/PassManager.h>

namespace parpy {

// "branch-on-cases", before it: a loop with a `switch` is not vectorised, and Clang makes one of
// every chain of comparisons. The innermost loops get comparisons again:
//
//     before  if (v == 65) o[i] = 84; else if (v == 67) o[i] = 71; else o[i] = v;
//     after   o[i] = v == 65 ? 84 : v == 67 ? 71 : v;      (in branches, which the vectoriser
//     joins)
struct BranchOnCases : llvm::PassInfoMixin<BranchOnCases> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

// "judge-gathers", before it: the text asks for vectors wherever they are legal. Loops that load
// from scattered elements are vectorised only if the sum of the instructions advises it.
struct JudgeGathers : llvm::PassInfoMixin<JudgeGathers> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

// "vectorize-branches", before it: the innermost loops in which branches choose among integers are
// vectorised even if the sum of the instructions advises against it, which knows nothing of
// mispredicted branches (a count of four letters: 9.5 ns an element, and 0.37 as vectors). Floats
// are excluded, because a loop that must be vectorised may add them in another order.
struct VectorizeBranches : llvm::PassInfoMixin<VectorizeBranches> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

// "keep-vector-loops", behind it: vectorised loops are interleaved already and are not unrolled in
// addition, nor are the loops around them. Unrolling a short row, or the remainder of a row, makes
// up to twice the code and hardly gains any speed; merely estimating the cost of unrolling takes a
// twentieth of a compilation.
struct KeepVectorLoops : llvm::PassInfoMixin<KeepVectorLoops> {
    static llvm::PreservedAnalyses run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses);
};

}  // namespace parpy
