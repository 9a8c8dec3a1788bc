// See expose_ranges.h.
#include "backend/sim/expose_ranges.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace parpy::sim {

llvm::PreservedAnalyses ExposeRanges::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool changed = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
        auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
        if (compare == nullptr || compare->getPredicate() != llvm::ICmpInst::ICMP_SGT) continue;
        const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
        const llvm::Loop* loop = loops.getLoopFor(compare->getParent());
        if (bound == nullptr || bound->isNegative() || loop == nullptr) continue;
        llvm::Value* counter = compare->getOperand(0);
        const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(counter));
        if (steps == nullptr || steps->getLoop() != loop) continue;
        // The difference must not wrap.
        const llvm::APInt less = -(bound->getValue() + 1);
        bool wraps = false;
        (void)evolution.getSignedRangeMin(steps).sadd_ov(less, wraps);
        if (wraps) continue;
        llvm::IRBuilder<> builder(compare);
        compare->setOperand(
            0, builder.CreateNSWAdd(counter, llvm::ConstantInt::get(counter->getType(), less)));
        compare->setOperand(1, llvm::ConstantInt::getAllOnesValue(counter->getType()));
        changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace parpy::sim
