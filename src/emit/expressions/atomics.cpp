// Atomic operations as C-family text.

#include "emit/expressions/expressions.h"

namespace parpy {

using ir::Expr;
using ir::Op;
using ir::Scalar;

namespace {

// Whether the hardware has the operation for elements of this type.
bool on_words(ir::Atomic atomic, Scalar scalar) {
    using enum ir::Atomic;
    const bool word = ir::size_in_bytes(scalar) == 4 || ir::size_in_bytes(scalar) == 8;
    const bool integer = word && ir::is_integer(scalar);
    switch (atomic) {
        case kExchange:
        case kCompareSwap:
            return word && scalar != Scalar::kC64;
        case kAdd:
        case kSub:
            return integer || scalar == Scalar::kF32 || scalar == Scalar::kF64;
        case kIncrement:
        case kDecrement:
            return scalar == Scalar::kU32;
        default:
            return integer;
    }
}

}  // namespace

Text ExprPrinter::print_atomic(const Expr& expr) const {
    const std::span<Expr* const> all = expr.operands;
    const auto which = static_cast<ir::Atomic>(expr.index);
    const std::string at = element(*expr.var, all.first(expr.rank()));
    if (ir::is_complex(expr.type.scalar) &&
        (which == ir::Atomic::kAdd || which == ir::Atomic::kSub)) {
        const Expr negated{.op = Op::kNeg, .type = expr.type, .operands = {all.back()}};
        const Expr& added = which == ir::Atomic::kSub ? negated : *all.back();
        const std::string value = exact(added, Precedence::kAssignment).text;
        printed_.erase({&negated, counting_});  // its lifetime ends here
        return {"atomic_add_parts(&" + at + ", " + value + ")", Precedence::kPostfix,
                expr.type.scalar};
    }
    std::string out = "atomic_" + std::string(text(which)) +
                      (on_words(which, expr.type.scalar) ? "(&" : "_any(&") + at;
    for (const Expr* value : all.subspan(expr.rank()))
        out += ", " + exact(*value, Precedence::kAssignment).text;
    return {out + ")", Precedence::kPostfix, expr.type.scalar};
}

}  // namespace parpy
