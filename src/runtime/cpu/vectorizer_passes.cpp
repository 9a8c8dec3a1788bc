// See vectorizer_passes.h.
#include "runtime/cpu/vectorizer_passes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

namespace parpy {

namespace {

constexpr const char* kForced = "llvm.loop.vectorize.enable";
constexpr unsigned kMostCases = 8;  // more of them are better left to a table of jumps

// Whether there is a `switch` in an innermost loop, and none has many cases.
bool has_small_switches(const llvm::Function& function, const llvm::LoopInfo& loops) {
    bool found = false;
    for (const llvm::BasicBlock& block : function) {
        const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
        if (choice == nullptr) continue;
        if (choice->getNumCases() > kMostCases) return false;
        const llvm::Loop* loop = loops.getLoopFor(&block);
        found = found || (loop != nullptr && loop->isInnermost());
    }
    return found;
}

// Whether vectors compute it for all elements at hardly any cost.
bool is_cheap(const llvm::Instruction& instruction) {
    if (!instruction.getType()->isIntOrIntVectorTy() && !instruction.isTerminator()) return false;
    if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
        return !binary->isIntDivRem();
    return llvm::isa<llvm::PHINode, llvm::CmpInst, llvm::CastInst, llvm::SelectInst,
                     llvm::BranchInst>(instruction);
}

// Whether branches of the loop choose among values of integers that cost little.
bool chooses_integers(const llvm::Loop& loop, const llvm::DominatorTree& dominators) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    if (latch == nullptr || loop.getExitingBlock() == nullptr || !loop.isInnermost()) return false;
    for (const llvm::PHINode& carried : loop.getHeader()->phis()) {
        if (!carried.getType()->isIntegerTy()) return false;
    }
    bool branches = false;
    for (const llvm::BasicBlock* block : loop.blocks()) {
        if (dominators.dominates(block, latch)) continue;
        branches = true;
        if (!llvm::all_of(*block, is_cheap)) return false;
    }
    return branches;
}

// Whether the loop loads elements that do not follow each other at one distance.
bool gathers(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
    for (llvm::BasicBlock* block : loop.blocks()) {
        for (llvm::Instruction& instruction : *block) {
            auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
            if (load == nullptr || !evolution.isSCEVable(load->getPointerOperandType())) continue;
            const llvm::SCEV* place = evolution.getSCEV(load->getPointerOperand());
            const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
            const bool regular = steps != nullptr && steps->getLoop() == &loop && steps->isAffine();
            if (!regular && !evolution.isLoopInvariant(place, &loop)) return true;
        }
    }
    return false;
}

// Sums of floats are added in another order only in loops that must be vectorised.
bool carries_floats(const llvm::Loop& loop) {
    return llvm::any_of(loop.getHeader()->phis(), [](const llvm::PHINode& carried) {
        return carried.getType()->isFloatingPointTy();
    });
}

}  // namespace

llvm::PreservedAnalyses JudgeGathers::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
        if (!llvm::getBooleanLoopAttribute(loop, kForced) || !loop->isInnermost() ||
            carries_floats(*loop) || !gathers(*loop, evolution)) {
            continue;
        }
        loop->setLoopID(llvm::makePostTransformationMetadata(function.getContext(),
                                                             loop->getLoopID(), {kForced}, {}));
    }
    return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses BranchOnCases::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager& analyses) {
    if (!has_small_switches(function, analyses.getResult<llvm::LoopAnalysis>(function)))
        return llvm::PreservedAnalyses::all();
    // Stores to one element become one store of a value that the cases choose.
    const auto sinking = llvm::SimplifyCFGOptions().sinkCommonInsts(true);
    analyses.invalidate(function, llvm::SimplifyCFGPass(sinking).run(function, analyses));
    llvm::LowerSwitchPass().run(function, analyses);
    return llvm::PreservedAnalyses::none();
}

llvm::PreservedAnalyses VectorizeBranches::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager& analyses) {
    const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
        if (llvm::findOptionMDForLoop(loop, kForced) == nullptr &&
            chooses_integers(*loop, dominators)) {
            llvm::addStringMetadataToLoop(loop, kForced, 1);
        }
    }
    return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses KeepVectorLoops::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
        if (!llvm::getBooleanLoopAttribute(loop, "llvm.loop.isvectorized")) continue;
        for (llvm::Loop* kept = loop; kept != nullptr; kept = kept->getParentLoop())
            kept->setLoopAlreadyUnrolled();
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace parpy
