// The pattern of narrow_math.h.
#include "passes/loops/narrow_math.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_as_good_in_f32(Op op) {
    if (picks_one(op)) return true;
    switch (op) {
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
        case Op::kDiv:
        case Op::kSqrt:  // the same bits
        case Op::kNeg:
        case Op::kAbs:
        case Op::kFloor:
        case Op::kCeil:
        case Op::kTrunc:
        case Op::kRint:
        case Op::kCopysign:
        case Op::kSquare:
        case Op::kReciprocal:
            return true;
        case Op::kExp:  // one unit in the last place
        case Op::kExp2:
        case Op::kExpm1:
        case Op::kLog:
        case Op::kLog2:
        case Op::kLog1p:
        case Op::kCbrt:
        case Op::kSin:
        case Op::kCos:
        case Op::kTanh:
        case Op::kAtan:
            return true;
        default:
            return false;
    }
}

// Whether an f64 value is exactly an f32: a converted one, or a constant.
bool is_f32(const Expr& expr) {
    if (expr.op == Op::kConst) {
        const auto* value = std::get_if<double>(&expr.constant.value);
        return value != nullptr && static_cast<double>(static_cast<float>(*value)) == *value;
    }
    return expr.op == Op::kConvert && expr.operands[0]->type.is(Scalar::kF32);
}

}  // namespace

void narrow_math(PassContext& context) {
    for (Function* function : context.module.functions) {
        rewrite(function->body, [&](Expr* expr) {
            if (expr->op != Op::kConvert || !expr->type.is(Scalar::kF32)) {
                return expr;
            }
            Expr* wide = expr->operands[0];
            const bool matches =
                wide->type.is(Scalar::kF64) && is_as_good_in_f32(wide->op) &&
                std::ranges::all_of(wide->operands, [](const Expr* e) { return is_f32(*e); });
            if (!matches) {
                return expr;
            }
            for (Expr*& operand : wide->operands) {
                operand = operand->op == Op::kConst ? Builder(context.module, operand->span)
                                                          .constant(expr->type, operand->constant)
                                                    : operand->operands[0];
            }
            wide->type = expr->type;
            return wide;
        });
    }
}

}  // namespace parpy
