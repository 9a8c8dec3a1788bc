// See expose_ranges.h.
#include "runtime/sim/expose_ranges.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace parpy::sim {

namespace {

// Loops that a failed check may leave early compare the lower half of their counter; irce needs a
// comparison of all of it.
bool compare_whole_counter(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    llvm::BasicBlock* before = loop.getLoopPreheader();
    if (latch == nullptr || before == nullptr) return false;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    if (branch == nullptr || !branch->isConditional()) return false;
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (compare == nullptr || compare->getPredicate() != llvm::ICmpInst::ICMP_NE) return false;
    auto* half = llvm::dyn_cast<llvm::TruncInst>(compare->getOperand(0));
    llvm::Value* end = compare->getOperand(1);
    if (half == nullptr || !loop.isLoopInvariant(end)) return false;
    llvm::Value* next = half->getOperand(0);
    const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(next));
    if (steps == nullptr || steps->getLoop() != &loop || !steps->isAffine() ||
        !steps->getStepRecurrence(evolution)->isOne()) {
        return false;
    }
    // The start is a number of the half's width and below `end`: both halves reach it at once.
    const llvm::SCEV* first =
        evolution.getMinusSCEV(steps->getStart(), evolution.getOne(next->getType()));
    const llvm::SCEV* narrow = evolution.getTruncateExpr(first, end->getType());
    if (evolution.getSignExtendExpr(narrow, next->getType()) != first) return false;
    if (!evolution.isLoopEntryGuardedByCond(&loop, llvm::ICmpInst::ICMP_SLT, narrow,
                                            evolution.getSCEV(end))) {
        return false;
    }
    llvm::IRBuilder<> builder(before->getTerminator());
    compare->setPredicate(llvm::ICmpInst::ICMP_SLT);
    compare->setOperand(0, next);
    compare->setOperand(1, builder.CreateSExt(end, next->getType()));
    return true;
}

}  // namespace

llvm::PreservedAnalyses ExposeRanges::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool changed = false;
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
        if (!compare_whole_counter(*loop, evolution)) continue;
        evolution.forgetLoop(loop);
        changed = true;
    }
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
