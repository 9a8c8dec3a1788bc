// Expressions as C-family text, driven by the rows of the dialect.

#include "emit/expressions/expressions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "emit/c_types.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace parpy {
namespace {

using ir::Expr;
using ir::Op;
using ir::Scalar;

constexpr std::int64_t kI32Max = std::numeric_limits<std::int32_t>::max();

Text parenthesised(Text text, Precedence at_least) {
    if (text.precedence < at_least) {
        text.text = "(" + text.text + ")";
        text.precedence = Precedence::kPostfix;
    }
    return text;
}

// Whether the offset of every element fits 32 bits.
bool is_compact(const ir::Var& array) {
    if (array.limit != 0 && array.limit <= kI32Max) return true;
    std::int64_t reach = 0;
    for (const ir::Dim& dim : array.dims) {
        if (!dim.extent || !dim.stride) {
            return false;
        }
        std::int64_t span = 0;
        if (__builtin_mul_overflow(*dim.extent, std::abs(*dim.stride), &span) ||
            __builtin_add_overflow(reach, span, &reach)) {
            return false;
        }
    }
    return reach <= kI32Max;
}

}  // namespace

// ---------------------------------------------------------------- entry points

std::string ExprPrinter::root(const Expr& expr) const {
    if (expr.op == Op::kConvert && widens(expr.operands[0]->type.scalar, expr.type.scalar)) {
        return operand(*expr.operands[0], Precedence::kAssignment).text;
    }
    return print(expr).text;
}

std::string ExprPrinter::count(const Expr& expr, Precedence at_least) const {
    const bool before = std::exchange(counting_, true);
    const bool widened = expr.op == Op::kConvert && ir::is_integer(expr.type.scalar) &&
                         widens(expr.operands[0]->type.scalar, expr.type.scalar);
    std::string text = operand(widened ? *expr.operands[0] : expr, at_least).text;
    counting_ = before;
    return text;
}

std::string ExprPrinter::any_order(const Expr& expr) const {
    const Spelling* row = find_row(dialect_.any_order, expr);
    return row != nullptr ? print_row(expr, *row).text : root(expr);
}

std::string ExprPrinter::element(const ir::Var& array, std::span<Expr* const> indices) const {
    const bool compact = is_compact(array);
    const bool before = std::exchange(counting_, true);
    std::string sum, falling;
    std::int64_t constant = 0;
    int subtracted = 0;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        const Expr* index = indices[d];
        const ir::Dim& dim = array.dims.at(d);
        if (dim.stride == 0) {
            continue;
        }
        if (const auto value = ir::constant_integer(index); value && dim.stride) {
            constant += *value * *dim.stride;
            continue;
        }
        if (!dialect_.hidden_value.empty())
            subtracted += subtrahends.count(*index, dim.stride.value_or(1));
        while (index->op == Op::kConvert && ir::is_integer(index->operands[0]->type.scalar) &&
               widens(index->operands[0]->type.scalar, index->type.scalar)) {
            index = index->operands[0];
        }
        Text term;
        if (dim.stride == 1) {
            term = operand(*index, Precedence::kAdditive);
            // Terms of other dimensions may be negative, which an unsigned sum is not.
            if (term.type == Scalar::kU32 && indices.size() > 1)
                term = cast(std::move(term), Scalar::kI64);
        } else {
            term = operand(*index, Precedence::kMultiplicative);
            const bool narrow = ir::size_in_bytes(promoted(term.type)) < 8;
            const bool stride_is_wide = !dim.stride && dim.stride_var->type.is(Scalar::kI64);
            if (narrow && !stride_is_wide && (!compact || term.type == Scalar::kU32)) {
                term = cast(std::move(term), Scalar::kI64);
            }
            const std::string stride =
                dim.stride ? std::to_string(std::abs(*dim.stride)) : names_.of(dim.stride_var);
            if (stride != "1") term.text += " * " + stride;
            if (dim.stride.value_or(1) < 0) {
                const bool negative = term.text.starts_with('-');  // C++ would read a decrement
                falling += " - " + (negative ? "(" + term.text + ")" : term.text);
                continue;
            }
        }
        sum += (sum.empty() ? "" : " + ") + term.text;
    }
    counting_ = before;
    if (sum.empty()) {
        sum = constant != 0 || falling.empty() ? std::to_string(constant) : "";
    } else if (constant != 0) {
        sum += constant < 0 ? " - " + std::to_string(-constant) : " + " + std::to_string(constant);
    }
    if (sum.empty()) {
        sum = "-" + falling.substr(3);
    } else {
        sum += falling;
    }
    if (subtracted > 1) {
        sum = std::string(dialect_.hidden_value) + "(" + sum + ")";
    }
    return names_.of(&array) + "[" + sum + "]";
}

// ---------------------------------------------------------------- operands

Text ExprPrinter::cast(Text text, Scalar to) const {
    text = parenthesised(std::move(text), Precedence::kUnary);
    if (to == Scalar::kBool) {  // C++'s own conversion is `!= 0`
        return {"(bool)" + text.text, Precedence::kUnary, to};
    }
    return {"(" + std::string(type(to)) + ")" + text.text, Precedence::kUnary, to};
}

Text ExprPrinter::operand(const Expr& expr, Precedence at_least) const {
    Text text = print(expr);
    if (!text.in_range) {
        text = cast(std::move(text), expr.type.scalar);
    }
    return parenthesised(std::move(text), at_least);
}

Text ExprPrinter::exact(const Expr& expr, Precedence at_least) const {
    Text text = print(expr);
    const Scalar to = expr.type.scalar;
    if (!text.in_range || text.type != to) {
        if (text.literal && ir::is_integer(to) && ir::size_in_bytes(to) >= 4) {
            text.text += to == Scalar::kI64 ? "LL" : to == Scalar::kU64 ? "ull" : "u";
            text.type = to;
        } else {
            text = cast(std::move(text), to);
        }
    }
    return parenthesised(std::move(text), at_least);
}

// ---------------------------------------------------------------- nodes

// An operator's text is printed more than once: the texts of its operands are kept until the
// expressions around it have been printed.
Text ExprPrinter::print(const Expr& expr) const {
    if (expr.operands.empty()) return print_node(expr);
    const auto known = printed_.find({&expr, counting_});
    if (known != printed_.end()) return known->second;
    ++depth_;
    Text text = print_node(expr);
    if (--depth_ == 0) {
        printed_.clear();
        return text;
    }
    for (const Expr* operand : expr.operands) {
        for (const Expr* inner : operand->operands) {
            printed_.erase({inner, false});
            printed_.erase({inner, true});
        }
    }
    printed_.insert_or_assign({&expr, counting_}, text);
    return text;
}

Text ExprPrinter::print_node(const Expr& expr) const {
    switch (expr.op) {
        case Op::kConst:
            return print_literal(expr.constant, expr.type.scalar);
        case Op::kVar:
            if (expr.var->constant) {
                return print_literal(*expr.var->constant, expr.type.scalar);
            }
            return {names_.of(expr.var), Precedence::kPostfix, expr.type.scalar};
        case Op::kLoad:
            return print_load(expr);
        case Op::kArray:
            return {names_.of(expr.var), Precedence::kPostfix, expr.type.scalar};
        case Op::kExtent: {
            const auto rank = static_cast<int>(expr.var->dims.size());
            const int d = expr.index < 0 ? expr.index + rank : expr.index;
            const ir::Dim& dim = expr.var->dims.at(static_cast<std::size_t>(d));
            if (dim.extent) {
                return print_literal({*dim.extent}, expr.type.scalar);
            }
            return {names_.of(dim.extent_var), Precedence::kPostfix, dim.extent_var->type.scalar};
        }
        case Op::kRegister: {
            const std::string_view text = dialect_.registers[static_cast<std::size_t>(expr.reg)];
            const bool is_cast = text.starts_with('(');
            return {std::string(text), is_cast ? Precedence::kUnary : Precedence::kPostfix,
                    expr.type.scalar};
        }
        case Op::kConvert:
            return print_convert(expr);
        case Op::kIndex:
            return print_index(expr);
        case Op::kCall:
            return print_call(expr);
        case Op::kAtomic:
            return print_atomic(expr);
        case Op::kTile:
        case Op::kMma:
        case Op::kAligned:
            return print_tile(expr);
        default:
            return print_row(expr, row_of(expr));
    }
}

// A subscript of unknown sign. The helper has operands of any width, so none is widened for it.
Text ExprPrinter::print_index(const Expr& expr) const {
    if (ir::is_unsigned_integer(expr.type.scalar)) {
        return print(*expr.operands[0]);
    }
    const Expr* index = expr.operands[0];
    while (index->op == Op::kConvert && ir::is_signed_integer(index->operands[0]->type.scalar) &&
           widens(index->operands[0]->type.scalar, index->type.scalar)) {
        index = index->operands[0];
    }
    const bool before = std::exchange(counting_, true);
    const Text i = operand(*index, Precedence::kAssignment);
    const Text n = operand(*expr.operands[1], Precedence::kAssignment);
    counting_ = before;
    return {"index(" + i.text + ", " + n.text + ")", Precedence::kPostfix, common(i.type, n.type)};
}

// Bytes of the caller's bool arrays may have any value.
Text ExprPrinter::print_load(const Expr& expr) const {
    const std::string text = element(*expr.var, expr.operands);
    if (is_row(expr)) return {"&" + text, Precedence::kUnary, expr.type.scalar};
    const bool foreign = expr.type.scalar == Scalar::kBool && expr.var->space == ir::Space::kGlobal;
    return {foreign ? "truth(" + text + ")" : text, Precedence::kPostfix, expr.type.scalar};
}

}  // namespace parpy
