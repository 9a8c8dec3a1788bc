// Typed expressions: converts operands to the type of their operator, and adds requirements.

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/eval/ops.h"
#include "ir/ops.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

bool is_truthy(const Constant& constant) {
    return std::visit([](auto value) { return value != decltype(value){}; }, constant.value);
}

}  // namespace

Expr* Typer::apply(const Typing& typing, Expr* expr, std::span<const Operand> operands) {
    Builder b(context_.module, expr->span);
    if (typing.exact) {
        return compare_exactly(typing.op, expr);
    }
    const bool keeps_shape = expr->op == Op::kImag && has_slices(*expr->operands[0]);
    if (expr->op == Op::kImag && typing.identity && !keeps_shape) {
        return b.constant(storage(typing.result), Constant{std::int64_t{0}});
    }
    if (typing.op == Op::kPow && typing.operand.weak && is_integer(typing.operand.scalar)) {
        require(*expr->operands[1], 1, 0);  // 2 ** -1 is a float
    }
    const Type type = storage(typing.operand);
    const std::optional<int> simple =
        expr->operands.size() == 2 && is_simple_power(typing, *expr->operands[1])
            ? simple_power(*expr->operands[1])
            : std::nullopt;
    for (std::size_t i = 0; i < expr->operands.size(); ++i) {
        expr->operands[i] = convert(expr->operands[i], operands[i].type, type);
    }
    if (typing.identity && !keeps_shape) {
        return expr->operands[0];
    }
    const bool is_complex_power = simple && is_complex(type.scalar);
    expr->op = simple && !is_complex_power ? Op::kSimplePower : typing.op;
    // NumPy takes roots and reciprocals of arrays, which differ from powers for -0.0, infinities
    // and complex numbers.
    if (operands[0].rank > 0 && (simple == 1 || (simple == -2 && is_complex_power))) {
        expr->op = simple == 1 ? Op::kSqrt : Op::kReciprocal;
        expr->operands.pop_back();
    }
    expr->type = typed_result(*expr);
    return expr;
}

// Compares a signed integer with a u64 by value: the sign decides, then both are u64.
Expr* Typer::compare_exactly(Op op, Expr* expr) {
    const bool signed_first = !expr->operands[0]->type.is(Scalar::kU64);
    Expr* signed_side = expr->operands[signed_first ? 0 : 1];
    Expr* unsigned_side = expr->operands[signed_first ? 1 : 0];
    if (!repeatable(*signed_side, text(op))) {
        return expr;
    }
    Builder b(context_.module, expr->span);
    signed_side = b.convert(signed_side, Scalar::kI64);
    Expr* again = b.convert(clone(context_.module, signed_side), Scalar::kU64);
    Expr* compared =
        signed_first ? b.binary(op, again, unsigned_side) : b.binary(op, unsigned_side, again);
    const bool negative_holds = op == Op::kNe || (signed_first ? op == Op::kLt || op == Op::kLe
                                                               : op == Op::kGt || op == Op::kGe);
    return negative_holds
               ? b.binary(Op::kOr, b.binary(Op::kLt, signed_side, b.integer(0)), compared)
               : b.binary(Op::kAnd, b.binary(Op::kGe, signed_side, b.integer(0)), compared);
}

// NumPy's functions on complex numbers order no NaN. Its scalars do, by their real parts, if only
// imaginary parts are NaN.
Expr* Typer::without_nan(Expr* compared, const Typing& typing) {
    const bool orders = is_comparison(typing.op) && typing.op != Op::kEq && typing.op != Op::kNe;
    if (!orders || !is_complex(typing.operand.scalar)) return compared;
    Builder b(context_.module, compared->span);
    const auto is_there = [&](const Expr* operand) {
        return b.binary(Op::kEq, clone(context_.module, operand), clone(context_.module, operand));
    };
    const Expr *first = compared->operands[0], *second = compared->operands[1];
    if (!repeatable(*first, text(typing.op)) || !repeatable(*second, text(typing.op)))
        return compared;
    return b.binary(Op::kAnd, b.binary(Op::kAnd, is_there(first), is_there(second)), compared);
}

Expr* Typer::convert(Expr* expr, const Type& from, Type to) {
    to = storage(to);
    if (expr->type == to || !expr->type.is_scalar() || !to.is_scalar()) {
        return expr;
    }
    Builder b(context_.module, expr->span);
    if (to.is(Scalar::kBool)) {
        return truth(expr);
    }
    if (refuses_complex(from, to, expr->span)) {
        return expr;
    }
    if (expr->op == Op::kConst) {
        const auto* value = std::get_if<std::int64_t>(&expr->constant.value);
        if (value != nullptr && from.weak && !holds(to.scalar, *value)) {
            refuse_integer(*value, expr->span, to);
        }
        if (!is_float(expr->type.scalar) || is_float(to.scalar) || is_complex(to.scalar)) {
            return b.constant(to, convert_constant(expr->constant, expr->type.scalar, to.scalar));
        }
    }
    if (from.weak && is_integer(to.scalar)) {
        if (is_unsigned_integer(to.scalar)) require(*expr, 1, 0, to);
        if (const Interval range = Interval::of_type(to.scalar); range != Interval::all()) {
            require(*expr, 1, range.low, to);
            require(*expr, -1, -range.high, to);
        }
    }
    return b.convert(expr, to.scalar);
}

void Typer::refuse_integer(std::int64_t value, Span span, const Type& type) {
    report(Code::kP201, span,
           "the Python integer " + std::to_string(value) + " does not fit " + python_name(type) +
               ", whose values are " + range_text(type.scalar),
           "use a wider type, or a number in range");
}

bool Typer::refuses_complex(const Type& from, const Type& to, Span span) {
    if (!is_complex(from.scalar) || is_complex(to.scalar) || to.is(Scalar::kBool)) {
        return false;
    }
    report(Code::kP205, span, a_python_name(from) + " cannot become " + a_python_name(to),
           "take the real part (.real) or abs(…)");
    return true;
}

Expr* Typer::truth(Expr* expr) {
    if (expr->type.is(Scalar::kBool) || !expr->type.is_scalar()) {
        return expr;
    }
    Builder b(context_.module, expr->span);
    if (expr->op == Op::kConst) {
        return b.boolean(is_truthy(expr->constant));
    }
    return b.binary(Op::kNe, expr, b.constant(expr->type, Constant{std::int64_t{0}}));
}

bool Typer::repeatable(const Expr& expr, std::string_view what) {
    if (!has_effects(expr)) {
        return true;
    }
    report(Code::kP219, expr.span,
           "this operand of '" + std::string(what) + "' calls a function and is needed twice",
           "assign it to a variable first, and use the variable here");
    return false;
}

Type Typer::storage(Type type) const {
    if (!type.weak) {
        return type;
    }
    type.weak = false;
    const Options& options = context_.options;
    if (type.scalar == Scalar::kI64 && options.force_int_size) {
        type.scalar = *options.force_int_size;
    } else if (type.scalar == Scalar::kF64 && options.force_float_size) {
        type.scalar = *options.force_float_size;
    } else if (type.scalar == Scalar::kC128 && options.force_float_size == Scalar::kF32) {
        type.scalar = Scalar::kC64;
    }
    return type;
}

Type Typer::of_python_size(Type type) const {
    type.weak = true;
    return storage(type);
}

Type Typer::kept_type(const Var& var) const {
    Type type = storage(var.type);
    if (var.type.weak && var.origin.kind == Origin::Kind::kArgument) {
        type.scalar = var.type.scalar;
    }
    return type;
}

Scalar Typer::index_scalar() const {
    return storage(Type::weak_of(Scalar::kI64)).scalar;
}

}  // namespace parpy
