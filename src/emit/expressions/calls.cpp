// Calls of functions, foreign ones included.
#include <algorithm>

#include "analysis/host_calls.h"
#include "emit/c_types.h"
#include "emit/expressions/expressions.h"
#include "ir/ops.h"

namespace parpy {

using ir::Expr;
using ir::Scalar;

Text ExprPrinter::print_call(const Expr& expr) const {
    const std::string& name = functions_.at(expr.callee);
    const auto is_array = [](const Expr* e) { return ir::array_passed(*e) != nullptr; };
    const bool with_arrays =
        expr.callee->target == kCudaHost && std::ranges::any_of(expr.operands, is_array);
    std::string out = name + "(";
    if (with_arrays) {
        out = "call_on_stream(context, [](auto... a) -> decltype(" + name + "(a...)) { return " +
              name + "(a...); }, ";
    }
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        const Expr& operand = *expr.operands[i];
        out += (i == 0 ? "" : ", ") + (with_arrays && is_array(&operand) ? with_shape(operand)
                                       : expr.callee->target.empty()     ? root(operand)
                                                                         : for_others(operand));
    }
    out += ")";
    if (!expr.callee->target.empty() && expr.type.is_scalar() && is_half(expr.type.scalar))
        out = "half_of<" + std::string(type(expr.type.scalar)) + ">(" + out + ")";
    return {out, Precedence::kPostfix, expr.type.scalar};
}

// An argument of an external function, whose own names for types may differ from ours.
//
std::string ExprPrinter::for_others(const Expr& argument) const {
    const Scalar scalar = argument.type.scalar;
    const bool wide = scalar == Scalar::kI64 || scalar == Scalar::kU64;
    if (ir::array_passed(argument) == nullptr)
        return is_half(scalar)
                   ? "foreign_half(" + exact(argument, Precedence::kAssignment).text + ")"
                   : root(argument);
    return wide || is_half(scalar) ? "foreign_pointer(" + root(argument) + ")" : root(argument);
}

// The address of the first element, and the extents of the array that begins there.
std::string ExprPrinter::with_shape(const Expr& array) const {
    const std::span<const ir::Dim> dims = ir::array_passed(array)->dims;
    const std::size_t rank = array.type.rank;
    std::string extents;
    for (const ir::Dim& dim : dims.subspan(dims.size() - rank)) {
        extents += (extents.empty() ? "" : ", ") +
                   (dim.extent ? std::to_string(*dim.extent) : names_.of(dim.extent_var));
    }
    return "parpy_array<" + std::string(type(array.type.scalar)) + ", " + std::to_string(rank) +
           ">{" + root(array) + ", {" + extents + "}}";
}

}  // namespace parpy
