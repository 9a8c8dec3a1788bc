// See truncate_once.h.
#include "runtime/cpu/truncate_once.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace parpy {

namespace {

using namespace llvm::PatternMatch;
namespace Intrinsic = llvm::Intrinsic;

struct Instruction {
    unsigned from, to;  // bits of a float and of an integer
    unsigned lanes;
    Intrinsic::ID id;
    std::string_view feature;  // of the processor
    unsigned operands = 1;     // 3: has a default and a mask, 4: and a rounding mode
};

constexpr Instruction kInstructions[] = {
    {64, 64, 1, Intrinsic::x86_sse2_cvttsd2si64, ""},
    {64, 32, 1, Intrinsic::x86_sse2_cvttsd2si, ""},
    {32, 64, 1, Intrinsic::x86_sse_cvttss2si64, ""},
    {32, 32, 1, Intrinsic::x86_sse_cvttss2si, ""},
    {64, 64, 8, Intrinsic::x86_avx512_mask_cvttpd2qq_512, "+avx512dq", 4},
    {64, 64, 4, Intrinsic::x86_avx512_mask_cvttpd2qq_256, "+avx512dq", 3},
    {64, 32, 8, Intrinsic::x86_avx512_mask_cvttpd2dq_512, "+avx512f", 4},
    {64, 32, 4, Intrinsic::x86_avx_cvtt_pd2dq_256, "+avx"},
    {32, 32, 16, Intrinsic::x86_avx512_mask_cvttps2dq_512, "+avx512f", 4},
    {32, 32, 8, Intrinsic::x86_avx_cvtt_ps2dq_256, "+avx"},
};

unsigned lanes_of(const llvm::Type& type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
    return vector != nullptr ? vector->getNumElements() : 1;
}

// The instruction of this processor that converts so; null if there is none.
const Instruction* find_instruction(const llvm::Instruction& conversion) {
    const llvm::Type& from = *conversion.getOperand(0)->getType();
    const llvm::Type& to = *conversion.getType();
    const llvm::StringRef features =
        conversion.getFunction()->getFnAttribute("target-features").getValueAsString();
    for (const Instruction& each : kInstructions) {
        if (from.getScalarSizeInBits() == each.from && to.getScalarSizeInBits() == each.to &&
            lanes_of(to) == each.lanes && features.contains(each.feature)) {
            return &each;
        }
    }
    return nullptr;
}

// The conversion that the choice is made for; null if it is another choice.
const llvm::Instruction* guarded_conversion(llvm::SelectInst& choice) {
    llvm::Value* converted = choice.getTrueValue();
    (void)match(converted, m_SExt(m_Value(converted)));
    llvm::Value* x = nullptr;
    if (!match(converted, m_FPToSI(m_Value(x))) &&
        !match(converted, m_Intrinsic<Intrinsic::fptosi_sat>(m_Value(x)))) {
        return nullptr;
    }
    const auto* conversion = llvm::cast<llvm::Instruction>(converted);
    const unsigned bits = conversion->getType()->getScalarSizeInBits();
    const double limit = bits == 64 ? 0x1p63 : 0x1p31;
    llvm::FCmpInst::Predicate first{}, second{};
    const bool guarded = match(choice.getCondition(),
                               m_LogicalAnd(m_FCmp(first, m_Specific(x), m_SpecificFP(-limit)),
                                            m_FCmp(second, m_Specific(x), m_SpecificFP(limit)))) &&
                         first == llvm::FCmpInst::FCMP_OGE && second == llvm::FCmpInst::FCMP_OLT;
    const llvm::APInt* otherwise = nullptr;
    const bool lowest =
        match(choice.getFalseValue(), m_APInt(otherwise)) && otherwise->getBitWidth() <= 64 &&
        otherwise->getSExtValue() == llvm::APInt::getSignedMinValue(bits).getSExtValue();
    return guarded && lowest ? conversion : nullptr;
}

llvm::Value* truncated(llvm::IRBuilder<>& builder, const llvm::Instruction& conversion,
                       const Instruction& instruction) {
    llvm::Value* x = conversion.getOperand(0);
    if (instruction.lanes == 1) {  // the first lane of a register
        auto* whole = llvm::FixedVectorType::get(x->getType(), 128 / instruction.from);
        x = builder.CreateInsertElement(llvm::PoisonValue::get(whole), x, std::uint64_t{0});
    }
    llvm::SmallVector<llvm::Value*, 4> operands = {x};
    if (instruction.operands > 1) {
        constexpr std::uint32_t kCurrentRounding = 4;
        operands.push_back(llvm::Constant::getNullValue(conversion.getType()));
        operands.push_back(
            llvm::Constant::getAllOnesValue(builder.getIntNTy(std::max(instruction.lanes, 8U))));
        if (instruction.operands > 3) operands.push_back(builder.getInt32(kCurrentRounding));
    }
    return builder.CreateIntrinsic(instruction.id, {}, operands);
}

}  // namespace

llvm::PreservedAnalyses TruncateOnce::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& /*analyses*/) {
    bool changed = false;
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
        auto* choice = llvm::dyn_cast<llvm::SelectInst>(&each);
        const auto* conversion = choice != nullptr ? guarded_conversion(*choice) : nullptr;
        const Instruction* instruction =
            conversion != nullptr ? find_instruction(*conversion) : nullptr;
        if (instruction == nullptr) continue;
        llvm::IRBuilder<> builder(choice);
        llvm::Value* result = truncated(builder, *conversion, *instruction);
        choice->replaceAllUsesWith(builder.CreateSExt(result, choice->getType()));
        choice->eraseFromParent();
        changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace parpy
