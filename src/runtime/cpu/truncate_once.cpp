// See truncate_once.h.
#include "runtime/cpu/truncate_once.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

namespace parpy {

namespace {

using namespace llvm::PatternMatch;

llvm::Intrinsic::ID instruction_of(const llvm::Type& from, const llvm::Type& to) {
    const bool wide = to.isIntegerTy(64);
    if (from.isDoubleTy())
        return wide ? llvm::Intrinsic::x86_sse2_cvttsd2si64 : llvm::Intrinsic::x86_sse2_cvttsd2si;
    return wide ? llvm::Intrinsic::x86_sse_cvttss2si64 : llvm::Intrinsic::x86_sse_cvttss2si;
}

// The conversion that the choice is made for; null if it is another choice.
const llvm::IntrinsicInst* guarded_conversion(llvm::SelectInst& choice) {
    llvm::Value* converted = choice.getTrueValue();
    (void)match(converted, m_SExt(m_Value(converted)));
    const auto* conversion = llvm::dyn_cast<llvm::IntrinsicInst>(converted);
    if (conversion == nullptr || conversion->getIntrinsicID() != llvm::Intrinsic::fptosi_sat)
        return nullptr;
    llvm::Value* x = conversion->getArgOperand(0);
    const unsigned bits = conversion->getType()->getScalarSizeInBits();
    const bool scalars = conversion->getType()->isIntegerTy() && (bits == 32 || bits == 64) &&
                         (x->getType()->isDoubleTy() || x->getType()->isFloatTy());
    if (!scalars) return nullptr;
    const double limit = bits == 64 ? 0x1p63 : 0x1p31;
    llvm::FCmpInst::Predicate first{}, second{};
    const bool guarded = match(choice.getCondition(),
                               m_LogicalAnd(m_FCmp(first, m_Specific(x), m_SpecificFP(-limit)),
                                            m_FCmp(second, m_Specific(x), m_SpecificFP(limit)))) &&
                         first == llvm::FCmpInst::FCMP_OGE && second == llvm::FCmpInst::FCMP_OLT;
    const auto* otherwise = llvm::dyn_cast<llvm::ConstantInt>(choice.getFalseValue());
    const bool lowest =
        otherwise != nullptr && otherwise->getBitWidth() <= 64 &&
        otherwise->getSExtValue() == llvm::APInt::getSignedMinValue(bits).getSExtValue();
    return guarded && lowest ? conversion : nullptr;
}

}  // namespace

llvm::PreservedAnalyses TruncateOnce::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& /*analyses*/) {
    bool changed = false;
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
        auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction);
        const auto* conversion = choice != nullptr ? guarded_conversion(*choice) : nullptr;
        if (conversion == nullptr) continue;
        llvm::IRBuilder<> builder(choice);
        llvm::Value* x = conversion->getArgOperand(0);
        const unsigned lanes = x->getType()->isDoubleTy() ? 2 : 4;  // of a register
        llvm::Value* held = builder.CreateInsertElement(
            llvm::PoisonValue::get(llvm::FixedVectorType::get(x->getType(), lanes)), x,
            std::uint64_t{0});
        llvm::Value* truncated = builder.CreateIntrinsic(
            instruction_of(*x->getType(), *conversion->getType()), {}, {held});
        choice->replaceAllUsesWith(builder.CreateSExt(truncated, choice->getType()));
        choice->eraseFromParent();
        changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace parpy
