// round(x, n) and np.round(x, n), for a constant number of decimal digits.
#include <cmath>

#include "ir/builder.h"
#include "ir/clone.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// Makes the rounded value; `digits` is -22 to 22, so that the power of ten is exact in float64.
class Rounding {
public:
    Rounding(Module& module, Expr* value, std::int64_t digits)
        : b_(module, value->span),
          value_(value),
          digits_(digits),
          power_(std::pow(10.0, static_cast<double>(std::abs(digits)))) {}

    // NumPy's rounding: scaled, rounded, and scaled back.
    Expr* scaled() {
        if (digits_ == 0) return b_.unary(Op::kRint, value_);
        const Scalar type = value_->type.scalar;
        const Op there = digits_ > 0 ? Op::kMul : Op::kDiv;
        const Op back = digits_ > 0 ? Op::kDiv : Op::kMul;
        Expr* whole = b_.unary(Op::kRint, b_.binary(there, value_, b_.real(power_, type)));
        return b_.binary(back, whole, b_.real(power_, type));
    }

    // Python's rounding: the float64 next to the exact result. Products and quotients are compared
    // with their rounding errors, as halves go to the even side.
    Expr* nearest() {
        if (digits_ == 0) return b_.unary(Op::kRint, value_);
        Expr* moved = b_.binary(digits_ > 0 ? Op::kMul : Op::kDiv, again(), power());
        Expr* result = b_.binary(digits_ > 0 ? Op::kDiv : Op::kMul, whole(moved), power());
        // From here on the digits are finer than the spacing of floats.
        Expr* coarse = b_.binary(Op::kLt, b_.unary(Op::kAbs, copy(moved)), b_.real(0x1p53));
        return b_.select(coarse, b_.binary(Op::kCopysign, result, again()), again());
    }

    // Python's rounding of an integer: to a multiple of the power of ten, modulo 2**64.
    Expr* nearest_multiple() {
        if (digits_ == -19) return nearest_beyond();
        if (digits_ < -19) return b_.integer(0, value_->type.scalar);
        const auto power = static_cast<std::int64_t>(power_);
        const auto unit = [&] { return b_.integer(power, value_->type.scalar); };
        const auto one = [&] { return b_.integer(1, value_->type.scalar); };
        Expr* lower = b_.binary(Op::kFloorDiv, again(), unit());
        Expr* rest = b_.binary(Op::kMod, again(), unit());
        Expr* half = b_.integer(power / 2, value_->type.scalar);
        Expr* odd = b_.binary(Op::kEq, b_.binary(Op::kBitAnd, copy(lower), one()), one());
        Expr* up = b_.binary(Op::kOr, b_.binary(Op::kGt, rest, half),
                             b_.binary(Op::kAnd, b_.binary(Op::kEq, copy(rest), copy(half)), odd));
        Expr* more = b_.convert(up, value_->type.scalar);
        return b_.binary(Op::kMul, b_.binary(Op::kAdd, lower, more), unit());
    }

private:
    // 0 or, beyond half of it, the power of ten that does not fit 64 bits.
    Expr* nearest_beyond() {
        constexpr std::int64_t kHalf = 5'000'000'000'000'000'000;
        const auto integer = [&](std::int64_t n) { return b_.integer(n, value_->type.scalar); };
        const auto power = static_cast<std::int64_t>(2 * static_cast<std::uint64_t>(kHalf));
        Expr* above = b_.binary(Op::kGt, again(), integer(kHalf));
        Expr* below = b_.binary(Op::kLt, again(), integer(-kHalf));
        return b_.select(above, integer(power), b_.select(below, integer(-power), integer(0)));
    }

    Expr* copy(const Expr* expr) { return clone(b_.module(), expr); }
    Expr* again() { return copy(value_); }
    Expr* power() { return b_.real(power_); }

    // The integer next to value * power or value / power, near `moved`; a 0 of any sign.
    Expr* whole(Expr* moved) {
        Expr* near = b_.unary(Op::kRint, moved);
        Expr* rest = nullptr;  // moved - near, rounded, and whether it is more than a half
        Expr* more = nullptr;
        if (digits_ > 0) {
            Expr* lost = b_.make(Op::kFma, {again(), power(), b_.unary(Op::kNeg, copy(moved))});
            rest = b_.binary(Op::kSub, copy(moved), copy(near));
            Expr* half = b_.binary(Op::kEq, b_.unary(Op::kAbs, copy(rest)), b_.real(0.5));
            Expr* same_sign = b_.binary(Op::kGt, b_.binary(Op::kMul, copy(rest), lost), b_.real(0));
            more = b_.binary(Op::kAnd, half, same_sign);
        } else {
            rest = b_.make(Op::kFma, {b_.unary(Op::kNeg, copy(near)), power(), again()});
            more = b_.binary(Op::kGt, b_.unary(Op::kAbs, copy(rest)), b_.real(power_ / 2));
        }
        Expr* step = b_.binary(Op::kCopysign, b_.real(1.0), rest);
        return b_.binary(Op::kAdd, near, b_.select(more, step, b_.real(0.0)));
    }

    Builder b_;
    Expr* value_;
    std::int64_t digits_;
    double power_;
};

}  // namespace

Operand Typer::walk_round(Expr*& slot, bool by_numpy) {
    Expr& expr = *slot;
    Operand operand = walk_value(expr.operands[0]);
    if (by_numpy && operand.type == Type::weak_of(Scalar::kBool)) operand.type.weak = false;
    const std::int64_t digits = *constant_integer(expr.operands[1]);
    // NumPy rounds bools to no other digits.
    const bool as_float = by_numpy && operand.type.is(Scalar::kBool) && digits == 0;
    const Typing typing = type_operation(as_float ? Op::kRint : Op::kRound, {{operand}});
    if (!typing.error.empty()) {
        report(typing, expr.span);
        return {};
    }
    Operand result;
    result.type = typing.result;
    result.rank = operand.rank;
    const bool by_python = typing.result.weak && !by_numpy;
    if (!rewriting() || !typing.result.is_scalar()) {
        return result;
    }
    const Type kept = storage(typing.result);
    Expr* value = convert(expr.operands[0], operand.type, kept);
    const bool whole = is_integer(kept.scalar);
    Builder b(context_.module, expr.span);
    if (whole && digits >= 0) {
        slot = value;
    } else if (!by_python || (!whole && !kept.is(Scalar::kF64))) {
        Expr* real = whole ? b.convert(value, Scalar::kF64) : value;
        slot = b.convert(Rounding(context_.module, real, digits).scaled(), kept.scalar);
    } else if (repeatable(*value, "round")) {
        Rounding rounding(context_.module, value, digits);
        slot = whole ? rounding.nearest_multiple() : rounding.nearest();
    }
    return result;
}

}  // namespace parpy
