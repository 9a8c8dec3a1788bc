// See print_expr.h.
#include "ir/text/print_expr.h"

#include <algorithm>

#include "ir/ops.h"
#include "support/escape.h"

namespace parpy::ir {

std::string ExpressionPrinter::expr(const Expr& e, Precedence context) {
    Precedence own = kPrimary;
    std::string text = spell(e, own);
    return own < context ? "(" + text + ")" : text;
}

std::string ExpressionPrinter::list(const std::vector<Expr*>& expressions, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < std::min(count, expressions.size()); ++i) {
        out += (i == 0 ? "" : ", ") + expr(*expressions[i]);
    }
    return out;
}

std::string ExpressionPrinter::element(const Var& array, const std::vector<Expr*>& indices,
                                       std::size_t count) {
    return names_(array) + "[" + list(indices, count) + "]";
}

std::string ExpressionPrinter::slice(const Expr& e) {
    std::string out;
    std::size_t next = 0;
    const bool counts = (e.index & kSliceLength) != 0;
    for (const SliceBound bound : {kSliceBegin, counts ? kSliceLength : kSliceEnd, kSliceStep}) {
        const bool given = (e.index & bound) != 0 && next < e.operands.size();
        out += bound == kSliceLength                                  ? ":+"
               : bound == kSliceEnd || (bound == kSliceStep && given) ? ":"
                                                                      : "";
        out += given ? expr(*e.operands[next++]) : "";
    }
    return out;
}

std::string ExpressionPrinter::call(const std::string& name, const std::vector<Expr*>& operands) {
    return name + "(" + list(operands) + ")";
}

std::string ExpressionPrinter::spell(const Expr& e, Precedence& own) {
    switch (e.op) {
        case Op::kConst: {
            std::string text = literal(e.type, e.constant, literals_);
            own = text.starts_with('-') ? kUnary : kPrimary;
            return text;
        }
        case Op::kVar:
            return names_(*e.var);
        case Op::kArray:
            return names_(*e.var) + "[...]";
        case Op::kLoad:
            return is_row(e) ? names_(*e.var) + "[" + list(e.operands) +
                                   (is_open_row(e) ? " ...]" : ", ...]")
                             : element(*e.var, e.operands);
        case Op::kExtent: {
            const auto* demanded = std::get_if<std::int64_t>(&e.constant.value);
            return names_(*e.var) + (is_stride(e) ? ".strides[" : ".shape[") +
                   std::to_string(e.index) +
                   (demanded != nullptr ? " of " + std::to_string(*demanded) : "") + "]";
        }
        case Op::kSlice:
            return slice(e);
        case Op::kNewAxis:
            return "None";
        case Op::kReduce: {
            const bool keeps = e.constant == Constant{true};
            return "reduce(" + std::string(text(static_cast<SliceReduction>(e.index))) + ", " +
                   list(e.operands) + (keeps ? ", keepdims)" : ")");
        }
        case Op::kRank:
        case Op::kSize:
            return names_(*e.var) + "." + std::string(ir::text(e.op));
        case Op::kRegister:
            return "$" + std::string(text(e.reg));
        case Op::kConvert:
            return call(to_string(e.type), e.operands);
        case Op::kCall: {
            const std::string& name = e.callee->name;
            const bool reserved = op_from_text(name) || scalar_from_name(name);
            return call((e.index == kInlineCall ? "inline "
                         : reserved             ? "call "
                                                : "") +
                            name,
                        e.operands);
        }
        case Op::kText:
            return "text(" + string_literal(*e.text) +
                   (e.type.is_scalar() ? ", " + to_string(e.type) + ")" : ")");
        case Op::kDtype:
            return "dtype(" + to_string(e.type) + ")";
        case Op::kNamed:
        case Op::kField:
            return std::string(text(e.op)) + "(" + string_literal(*e.text) + ", " +
                   list(e.operands) + (e.index == 1 ? ", subscript)" : ")");
        case Op::kMatMul:
            return call("matmul", e.operands) + (e.index == kDotProduct ? " dot" : "");
        case Op::kShape:
            return call("shape", e.operands) + (is_stride(e) ? " strides" : "");
        case Op::kRecord:
            return call("record", e.operands) + (e.index == 1 ? " tuple" : "");
        case Op::kFunction:
            return call("fn " + e.callee->name, e.operands) +
                   (e.index > 0 ? " defaults " + std::to_string(e.index) : "") +
                   (e.constant == Constant{true} ? " lent" : "");
        case Op::kAtomic: {
            std::string out = "atomic_" + std::string(text(static_cast<Atomic>(e.index))) + "(" +
                              element(*e.var, e.operands, e.rank());
            for (std::size_t i = e.rank(); i < e.operands.size(); ++i)
                out += ", " + expr(*e.operands[i]);
            return out + ")";
        }
        case Op::kSelect:
            own = kTernary;
            return expr(*e.operands[1], kOrLevel) + " if " + expr(*e.operands[0], kOrLevel) +
                   " else " + expr(*e.operands[2], kTernary);
        case Op::kNot:
            own = kNotLevel;
            return "not " + expr(*e.operands[0], kNotLevel);
        case Op::kNeg:
        case Op::kPos:
        case Op::kInvert: {
            own = kUnary;
            const std::string sign = e.op == Op::kNeg ? "-" : e.op == Op::kPos ? "+" : "~";
            // A minus directly before a literal is part of the literal: `-(3 ** x)`.
            const Expr* leftmost = e.operands[0];
            while (is_infix(leftmost->op)) {
                leftmost = leftmost->operands[0];
            }
            const bool literal = leftmost->op == Op::kConst;
            const std::string operand = expr(*e.operands[0], kUnary);
            const bool bare = literal && !operand.starts_with('(');
            return sign + (bare ? "(" + operand + ")" : operand);
        }
        default:
            break;
    }
    if (!is_infix(e.op)) {
        const bool fails = e.op == Op::kIndex && e.index > 0;
        return call(std::string(text(e.op)), e.operands) +
               (fails ? " site " + std::to_string(e.index - 1) : "");
    }
    own = precedence_of(e.op);
    const bool right_associative = e.op == Op::kPow;
    const auto next = static_cast<Precedence>(own + 1);
    const bool chains = is_comparison(e.op);  // `a < b < c` would mean something else
    const Precedence left = right_associative || chains ? next : own;
    const Precedence right = right_associative ? kUnary : next;
    return expr(*e.operands[0], left) + " " + std::string(text(e.op)) + " " +
           expr(*e.operands[1], right);
}

}  // namespace parpy::ir
