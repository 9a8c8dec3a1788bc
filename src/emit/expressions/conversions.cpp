// Conversions between the types of numbers as C-family text.
#include "emit/c_types.h"
#include "emit/expressions/expressions.h"

namespace parpy {

using ir::Expr;
using ir::Scalar;

namespace {

bool is_double(Scalar type) {
    return type == Scalar::kF64 || type == Scalar::kC128;
}

}  // namespace

Text ExprPrinter::print_convert(const Expr& expr) const {
    const Expr& from = *expr.operands[0];
    const Scalar source = from.type.scalar;
    const Scalar target = expr.type.scalar;
    const bool rounds =
        is_double(source) && !is_double(target) && (ir::is_float(target) || ir::is_complex(target));
    const bool recomputes = rounds && !dialect_.recomputed.empty() && chosen_constants.may_be(from);
    const auto argument = [&] {
        const std::string text = exact(from, Precedence::kAssignment).text;
        return recomputes ? std::string(dialect_.recomputed) + "(" + text + ")" : text;
    };
    const auto call = [&](std::string_view function, std::string text) {
        return Text{std::string(function) + "(" + std::move(text) + ")", Precedence::kPostfix,
                    target};
    };
    if (source == target) {
        return print(from);
    }
    if (target == Scalar::kBool) {
        const std::string zero = ir::is_complex(source) ? std::string(type(source)) + "{}" : "0";
        return {operand(from, Precedence::kAdditive).text + " != " + zero, Precedence::kEquality,
                target};
    }
    if (ir::is_complex(target)) {
        const std::string part = target == Scalar::kC64 ? "<float>" : "<double>";
        return call((ir::is_complex(source) ? "complex_cast" : "complex_from") + part, argument());
    }
    if (ir::is_complex(source)) {
        Text part{(recomputes ? argument() : operand(from, Precedence::kPostfix).text) + ".re",
                  Precedence::kPostfix, source == Scalar::kC64 ? Scalar::kF32 : Scalar::kF64};
        return part.type == target ? part : cast(std::move(part), target);
    }
    if (ir::is_float(source) && ir::is_integer(target)) {
        Text value = is_half(source) ? cast(operand(from, Precedence::kUnary), Scalar::kF32)
                                     : exact(from, Precedence::kAssignment);
        return call("truncate<" + std::string(type(target)) + ">", std::move(value.text));
    }
    if (is_half(target) && source == Scalar::kF64) {
        return call(std::string(type(target)) + "_from_f64", argument());
    }
    if (recomputes) return cast({argument(), Precedence::kPostfix, source}, target);
    if (is_half(target) && source != Scalar::kF32) {
        return cast(cast(operand(from, Precedence::kUnary), Scalar::kF32), target);
    }
    return cast(operand(from, Precedence::kUnary), target);
}

}  // namespace parpy
