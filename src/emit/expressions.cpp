// Expressions as C-family text, driven by the rows of the dialect.

#include "emit/expressions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/host_calls.h"
#include "emit/c_types.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace parpy {
namespace {

using ir::Expr;
using ir::Op;
using ir::Scalar;

constexpr std::int64_t kI32Max = std::numeric_limits<std::int32_t>::max();

Precedence above(Precedence p) {
    return static_cast<Precedence>(static_cast<int>(p) + 1);
}

bool is_double(Scalar type) {
    return type == Scalar::kF64 || type == Scalar::kC128;
}

Text parenthesised(Text text, Precedence at_least) {
    if (text.precedence < at_least) {
        text.text = "(" + text.text + ")";
        text.precedence = Precedence::kPostfix;
    }
    return text;
}

// Operators whose result is one of their operands' bits, so that C++'s promotion does no harm.
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

// Does the offset of every element fit in 32 bits?
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

// A pattern with $0 and, for $1 or $t, the second of `parts`.
std::string fill(std::string_view pattern, const std::array<std::string, 2>& parts) {
    std::string out;
    for (std::size_t p = 0; p < pattern.size(); ++p) {
        if (pattern[p] == '$') {
            out += parts[pattern[++p] == '0' ? 0 : 1];
        } else {
            out += pattern[p];
        }
    }
    return out;
}

// Does an operand between these characters of a row stand alone in an argument list?
bool stands_alone(char left, char right) {
    return (left == '(' || left == '{' || left == ' ') &&
           (right == ')' || right == '}' || right == ',');
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
                const bool negative = term.text.starts_with('-');  // of which C++ makes a decrement
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

// ---------------------------------------------------------------- rows

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

// What its variables are multiplied by, at most: subscripts and counts stay below 2^63 where that
// is small.
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
    return row != nullptr ? *row : kMissing;  // the verifier lets no such program come here
}

// The operand of an infix operator that C++ converts by itself because of the other one's type, so
// that its conversion need not be written; an index beyond the operands if there is none.
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

    // How tightly operand `i` must bind, standing between `left` and `right`.
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
        // Mixed bitwise, shift and comparison operators read better with parentheses.
        if (bitwise || row.precedence == Precedence::kShift) {
            const bool same = i == 0 && expr.operands[0]->op == expr.op;
            return same ? row.precedence : Precedence::kUnary;
        }
        if (row.precedence == Precedence::kEquality || row.precedence == Precedence::kRelational) {
            return Precedence::kAdditive;
        }
        // Integer sums and products may be regrouped where they cannot overflow or just wrap.
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
            const auto i = static_cast<std::size_t>(which - '0');
            const char left = p >= 2 ? row.text[p - 2] : '\0';
            const char right = p + 1 < row.text.size() ? row.text[p + 1] : '\0';
            // Of a helper template the first argument names the type, and the others convert; which
            // of several functions is meant they say together.
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
            // Literals alone, say, that C++ takes for ints.
            substitute(true);
            text.text = std::move(out);
            text.type = result();
        }
    }
    text.in_range = text.type == expr.type.scalar || keeps_range(expr);
    return text;
}

// ---------------------------------------------------------------- nodes

// What an operator's text depends on is printed more than once: its operands are kept until the
// expressions around it are printed, too.
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

// A subscript of unknown sign. The helper takes operands of any width, so none is widened for it.
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

// Bytes of the caller's own arrays of bool may be anything.
Text ExprPrinter::print_load(const Expr& expr) const {
    const std::string text = element(*expr.var, expr.operands);
    if (is_row(expr)) return {"&" + text, Precedence::kUnary, expr.type.scalar};
    const bool foreign = expr.type.scalar == Scalar::kBool && expr.var->space == ir::Space::kGlobal;
    return {foreign ? "truth(" + text + ")" : text, Precedence::kPostfix, expr.type.scalar};
}

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
        out += (i == 0 ? "" : ", ") +
               (with_arrays && is_array(&operand) ? with_shape(operand)
                : expr.callee->target.empty()     ? root(operand)
                                                  : for_others(operand));
    }
    out += ")";
    if (!expr.callee->target.empty() && expr.type.is_scalar() && is_half(expr.type.scalar))
        out = "half_of<" + std::string(type(expr.type.scalar)) + ">(" + out + ")";
    return {out, Precedence::kPostfix, expr.type.scalar};
}

// An argument of an external function, which may have its own names for types that we name
// otherwise.
std::string ExprPrinter::for_others(const Expr& argument) const {
    const Scalar scalar = argument.type.scalar;
    const bool wide = scalar == Scalar::kI64 || scalar == Scalar::kU64;
    if (ir::array_passed(argument) == nullptr)
        return is_half(scalar) ? "foreign_half(" + exact(argument, Precedence::kAssignment).text + ")"
                               : root(argument);
    return wide || is_half(scalar) ? "foreign_pointer(" + root(argument) + ")" : root(argument);
}

// The address of the first element, and the extents of what begins there.
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
        const bool is_call = !dialect_.float_to_integer.starts_with('(');
        const Precedence outside = is_call ? Precedence::kPostfix : Precedence::kUnary;
        const Precedence inside = is_call ? Precedence::kAssignment : Precedence::kUnary;
        Text value = is_half(source) ? cast(operand(from, Precedence::kUnary), Scalar::kF32)
                                     : exact(from, inside);
        return {fill(dialect_.float_to_integer, {value.text, std::string(type(target))}), outside,
                target};
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
