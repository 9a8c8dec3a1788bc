// See trend.h.
#include "analysis/integers/trend.h"

#include "ir/builder.h"

namespace parpy {

using namespace ir;

namespace {

Trend reversed(Trend trend) {
    switch (trend) {
        case Trend::kGrows:
            return Trend::kFalls;
        case Trend::kFalls:
            return Trend::kGrows;
        default:
            return trend;
    }
}

Trend together(Trend a, Trend b) {
    if (a == Trend::kConstant || a == b) return b;
    return b == Trend::kConstant ? a : Trend::kUnknown;
}

}  // namespace

Trend trend_of(const Expr& expr, const Var& variable, const Uses& changed) {
    const auto operand = [&](std::size_t i) {
        return trend_of(*expr.operands[i], variable, changed);
    };
    switch (expr.op) {
        case Op::kConst:
        case Op::kExtent:
            return Trend::kConstant;
        case Op::kVar:
            return expr.var == &variable                ? Trend::kGrows
                   : changed.written.contains(expr.var) ? Trend::kUnknown
                                                        : Trend::kConstant;
        case Op::kAdd:
        case Op::kMin:
        case Op::kMax:
            return together(operand(0), operand(1));
        case Op::kSub:
            return together(operand(0), reversed(operand(1)));
        case Op::kNeg:
            return reversed(operand(0));
        case Op::kMul: {
            const auto left = constant_integer(expr.operands[0]);
            const auto right = constant_integer(expr.operands[1]);
            if (!left && !right) {
                const bool fixed = operand(0) == Trend::kConstant && operand(1) == Trend::kConstant;
                return fixed ? Trend::kConstant : Trend::kUnknown;
            }
            const Trend trend = operand(left ? 1 : 0);
            const std::int64_t factor = left ? *left : *right;
            return factor == 0 ? Trend::kConstant : factor > 0 ? trend : reversed(trend);
        }
        default:
            return Trend::kUnknown;
    }
}

}  // namespace parpy
