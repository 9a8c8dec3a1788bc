// Operators as C-family text: chooses the row of the dialect and substitutes the operands.
#include <algorithm>

#include "emit/c_types.h"
#include "emit/expressions/expressions.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace parpy {

using ir::Expr;
using ir::Op;
using ir::Scalar;

namespace {

Precedence above(Precedence p) {
    return static_cast<Precedence>(static_cast<int>(p) + 1);
}

// Operators whose result has the bits of an operand, so that C++'s promotion is harmless.
bool keeps_range(const Expr& expr) {
    switch (expr.op) {
        case Op::kSelect:
        case Op::kBitAnd:
        case Op::kBitOr:
        case Op::kBitXor:
        case Op::kShr:
        case Op::kQuotient:
        case Op::kRemainder:
            return true;
        case Op::kFloorDiv:
        case Op::kMod:
            return ir::is_unsigned_integer(expr.type.scalar);
        case Op::kNeg:
            return ir::is_float(expr.type.scalar);
        default:
            return false;
    }
}

// Whether an operand between these characters of a row stands alone in an argument list.
bool stands_alone(char left, char right) {
    return (left == '(' || left == '{' || left == ' ') &&
           (right == ')' || right == '}' || right == ',');
}

}  // namespace

bool ExprPrinter::is_count(const Expr& expr) const {
    switch (expr.op) {
        case Op::kConst:
        case Op::kExtent:
        case Op::kRegister:
            return true;
        case Op::kVar:
            return counters.contains(expr.var);
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
        case Op::kNeg:
        case Op::kConvert:
            return std::ranges::all_of(expr.operands, [&](const Expr* e) {
                return ir::is_integer(e->type.scalar) && is_count(*e);
            });
        default:
            return false;
    }
}

// An upper bound of the factors that the variables of `expr` are multiplied by: if it is small,
// subscripts and counts stay below 2^63.
double ExprPrinter::largest_factor(const Expr& expr) {
    const auto of = [&](std::size_t i) { return largest_factor(*expr.operands[i]); };
    switch (expr.op) {
        case Op::kConst: {
            const auto value = ir::constant_integer(&expr);
            return value ? std::abs(static_cast<double>(*value)) : 1;
        }
        case Op::kAdd:
        case Op::kSub:
            return of(0) + of(1);
        case Op::kMul:
            return of(0) * of(1);
        case Op::kNeg:
        case Op::kConvert:
            return of(0);
        default:
            return 1;
    }
}

bool ExprPrinter::applies(const Spelling& row, const Expr& expr) const {
    if (row.op != expr.op) return false;
    if (!expr.operands.empty() && (row.types & set_of(expr.operands[0]->type.scalar)) == 0) {
        return false;
    }
    const auto second = [&]() -> std::optional<double> {
        const Expr& e = *expr.operands.at(1);
        if (e.op != Op::kConst) {
            return std::nullopt;
        }
        if (const auto* integer = std::get_if<std::int64_t>(&e.constant.value)) {
            return static_cast<double>(*integer);
        }
        if (const auto* z = std::get_if<std::complex<double>>(&e.constant.value)) {
            return z->imag() == 0 ? std::optional(z->real()) : std::nullopt;
        }
        const auto* real = std::get_if<double>(&e.constant.value);
        return real != nullptr ? std::optional(*real) : std::nullopt;
    };
    switch (row.when) {
        case When::kAlways:
            return true;
        case When::kSecondIsTwo:
            return second() == 2.0;
        case When::kSecondIsPositive:
            return second() && *second() > 0;
        case When::kShiftInRange:
            return second() && *second() >= 0 && *second() < 8 * size_in_bytes(expr.type.scalar);
        case When::kNotIndex:
            return (!counting_ && !is_count(expr)) || largest_factor(expr) >= kLargestFactor;
    }
    return false;
}

const Spelling* ExprPrinter::find_row(std::span<const Spelling> rows, const Expr& expr) const {
    const auto it = std::ranges::find_if(rows, [&](const Spelling& r) { return applies(r, expr); });
    return it != rows.end() ? &*it : nullptr;
}

const Spelling& ExprPrinter::row_of(const Expr& expr) const {
    static constexpr Spelling kMissing{Op::kConst, kAll, "unsupported_operator($0)"};
    const Spelling* row = find_row(dialect_.functions, expr);
    if (row == nullptr) row = find_row(dialect_.operators, expr);
    if (row == nullptr && dialect_.wraps_by_helpers) row = find_row(wrapping_operators(), expr);
    if (row == nullptr) row = find_row(c_family_operators(), expr);
    return row != nullptr ? *row : kMissing;  // the verifier rejects such programs
}

// The operand of an infix operator that C++ converts implicitly to the other one's type, so that
// its conversion need not be printed; a number beyond the operands if there is none.
std::size_t ExprPrinter::implicit_conversion(const Expr& expr, const Spelling& row) const {
    constexpr std::size_t kNone = ~std::size_t{0};
    if (row.precedence < Precedence::kEquality || row.precedence > Precedence::kMultiplicative ||
        row.precedence == Precedence::kShift || expr.operands.size() != 2) {
        return kNone;
    }
    for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
        const Expr& e = *expr.operands[i];
        if (e.op != Op::kConvert || ir::is_complex(e.type.scalar) || is_half(e.type.scalar)) {
            continue;
        }
        const Scalar from = e.operands[0]->type.scalar;
        const Scalar to = e.type.scalar;
        const bool both_integers = ir::is_integer(from) && ir::is_integer(to);
        if (is_half(from) || ir::is_complex(from) || (both_integers && !widens(from, to)) ||
            (ir::is_float(from) && !widens(from, to))) {
            continue;
        }
        const Text other = print(*expr.operands[1 - i]);
        const bool compares = row.precedence <= Precedence::kRelational;
        if ((other.type == to && other.in_range && common(from, to) == to) ||
            (compares && both_integers && other.literal && other.type == Scalar::kI32 &&
             ir::is_signed_integer(from))) {
            return i;
        }
    }
    return kNone;
}

Text ExprPrinter::print_row(const Expr& expr, const Spelling& row) const {
    if (row.text == "$0") {
        return print(*expr.operands[0]);
    }
    const bool call = row.precedence == Precedence::kPostfix;
    const bool bitwise =
        row.precedence >= Precedence::kBitwiseOr && row.precedence <= Precedence::kBitwiseAnd;

    // The precedence that operand `i` needs between `left` and `right`.
    const auto needed = [&](std::size_t i, char left, char right) {
        if (call) {
            return stands_alone(left, right) ? Precedence::kAssignment
                   : left == ')'             ? Precedence::kUnary
                                             : Precedence::kPostfix;
        }
        if (row.precedence == Precedence::kTernary) {
            return i == 0 ? Precedence::kLogicalOr : Precedence::kTernary;
        }
        if (row.precedence == Precedence::kUnary) {
            return Precedence::kUnary;
        }
        // Mixed bitwise, shift and comparison operators are easier to read with parentheses.
        if (bitwise || row.precedence == Precedence::kShift) {
            const bool same = i == 0 && expr.operands[0]->op == expr.op;
            return same ? row.precedence : Precedence::kUnary;
        }
        if (row.precedence == Precedence::kEquality || row.precedence == Precedence::kRelational) {
            return Precedence::kAdditive;
        }
        // Integer sums and products may be regrouped if they cannot overflow or only wrap.
        const bool regroup = counting_ && row.precedence == Precedence::kAdditive &&
                             expr.op == Op::kAdd && ir::is_integer(expr.type.scalar);
        const bool leads = i == 0 && row.text.starts_with("$0");
        return leads || regroup ? row.precedence : above(row.precedence);
    };

    std::vector<Text> operands(expr.operands.size());
    const std::size_t implicit = implicit_conversion(expr, row);
    const auto fetch = [&](std::size_t i, Precedence at_least, bool exactly) {
        const Expr& e = *expr.operands[i];
        operands[i] = exactly         ? exact(e, at_least)
                      : i == implicit ? operand(*e.operands[0], at_least)
                                      : operand(e, at_least);
    };
    std::string out;
    const auto substitute = [&](bool exactly) {
        out.clear();
        for (std::size_t p = 0; p < row.text.size(); ++p) {
            const char c = row.text[p];
            if (c != '$') {
                out += c;
                continue;
            }
            const char which = row.text[++p];
            if (which == 't') {
                out += type(expr.type.scalar);
                continue;
            }
            if (which == 'h') {
                out += std::to_string(*ir::simple_power(*expr.operands[1]));
                continue;
            }
            const auto i = static_cast<std::size_t>(which - '0');
            const char left = p >= 2 ? row.text[p - 2] : '\0';
            const char right = p + 1 < row.text.size() ? row.text[p + 1] : '\0';
            // The first argument of a helper template determines the type, and the others convert.
            // Overloads need the exact type of all arguments.
            fetch(i, needed(i, left, right), exactly && (!call || i == 0));
            if (call && operands[i].type == Scalar::kF32 &&
                expr.operands[i]->type.is(Scalar::kF64)) {
                fetch(i, needed(i, left, right), true);
            }
            if (row.text.starts_with('-') && operands[i].text.starts_with('-')) {  // not --x
                operands[i].text = "(" + operands[i].text + ")";
            }
            out += operands[i].text;
        }
    };
    substitute(call && row.yields == Yields::kExact);

    Text text{std::move(out), row.precedence, expr.type.scalar};
    if (row.yields == Yields::kExact) {
        return text;
    }
    if (row.yields == Yields::kFloat) {
        text.type = promoted(expr.type.scalar);
    } else {
        const auto result = [&] {
            const bool select = expr.op == Op::kSelect;
            if (select && operands[1].type == operands[2].type) {
                return operands[1].type;
            }
            if (expr.op == Op::kShl || expr.op == Op::kShr || operands.size() == 1 ||
                operands.size() > 3) {
                return promoted(operands[0].type);
            }
            return common(operands[select ? 1 : 0].type, operands[select ? 2 : 1].type);
        };
        text.type = result();
        const Scalar wanted = promoted(expr.type.scalar);
        const bool mixed_halves = expr.op == Op::kSelect && is_half(expr.type.scalar) &&
                                  operands[1].type != operands[2].type;
        if (mixed_halves || (text.type != wanted && text.type != expr.type.scalar)) {
            // C++ reads an expression of literals only as an int, for example.
            substitute(true);
            text.text = std::move(out);
            text.type = result();
        }
    }
    text.in_range = text.type == expr.type.scalar || keeps_range(expr);
    return text;
}

}  // namespace parpy
