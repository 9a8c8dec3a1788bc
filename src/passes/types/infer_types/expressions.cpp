// Expressions of infer_types: operand types up, conversions down.
#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/aggregates/lower_aggregates.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

const Operand kUnknownOperand{};

// Converts operands that are all Python numbers to NumPy's types; true if they were.
bool made_numpy(std::span<Operand> operands) {
    if (!std::ranges::all_of(operands, [](const Operand& o) { return o.type.weak; })) {
        return false;
    }
    for (Operand& operand : operands) {
        operand.type.weak = false;
    }
    return true;
}

// -c for a weak constant, which Python folds as well; -2^63 is unchanged.
std::optional<Constant> negated(const Operand& operand) {
    if (!operand.constant || !operand.type.weak) {
        return std::nullopt;
    }
    if (const auto value = integer_value(operand)) {
        return Constant{static_cast<std::int64_t>(-static_cast<std::uint64_t>(*value))};
    }
    if (const auto* value = std::get_if<double>(&operand.constant->value)) {
        return Constant{-*value};
    }
    return std::nullopt;
}

// The value of sums and products of known Python integers, unless they exceed 64 bits.
std::optional<std::int64_t> computed(Op op, std::span<const Operand> operands) {
    const auto known = [](const Operand& o) {
        return o.type == Type::weak_of(Scalar::kI64) && integer_value(o).has_value();
    };
    if (operands.size() != 2 || !std::ranges::all_of(operands, known)) return std::nullopt;
    const std::int64_t a = *integer_value(operands[0]), b = *integer_value(operands[1]);
    std::int64_t result = 0;
    const bool fits = op == Op::kAdd   ? !__builtin_add_overflow(a, b, &result)
                      : op == Op::kSub ? !__builtin_sub_overflow(a, b, &result)
                      : op == Op::kMul ? !__builtin_mul_overflow(a, b, &result)
                                       : false;
    return fits ? std::optional(result) : std::nullopt;
}

}  // namespace

Operand Typer::walk_value(Expr*& slot) {
    const Operand operand = walk(slot);
    return operand.type.is_void() ? walk_nothing(slot) : operand;
}

Operand Typer::walk_scalar(Expr*& slot) {
    const Operand operand = walk_value(slot);
    return needs_scalar(*slot, operand.rank) ? operand : kUnknownOperand;
}

Operand Typer::walk(Expr*& slot, bool by_numpy) {
    switch (slot->op) {
        case Op::kConst:
            return walk_const(*slot);
        case Op::kVar:
        case Op::kArray:
            return walk_var(slot);
        case Op::kLoad:
            return walk_selected(slot);
        case Op::kExtent:
        case Op::kRank:
        case Op::kSize:
            return walk_shape(slot);
        case Op::kTypesEqual:
            return walk_types_equal(slot);
        case Op::kBackendIs:
            return kUnknownOperand;  // reported by fold_static
        case Op::kConvertLike:
            return walk_convert_like(slot);
        case Op::kCall:
            return walk_call(slot);
        case Op::kConvert:
            return walk_convert(slot);
        case Op::kRegister:
            return walk_register(slot);
        case Op::kAtomic:
            return walk_atomic(slot);
        case Op::kAnd:
        case Op::kOr:
            return walk_logical(slot);
        case Op::kSelect:
            return walk_select(slot, by_numpy);
        case Op::kReduce:
            return walk_reduce(slot);
        case Op::kMatMul:
            return walk_matmul(slot);
        case Op::kTranspose:
            return walk_transpose(*slot);
        case Op::kReshape:
            return walk_reshape(*slot);
        case Op::kFull:
        case Op::kLike:
        case Op::kEmpty:
            return walk_filled(slot);
        case Op::kNumpy:
            return walk_numpy(slot);
        case Op::kOutput: {
            const Operand operand = walk(slot->operands[0]);
            if (rewriting()) slot = slot->operands[0];
            return operand;
        }
        case Op::kRound:
            return walk_round(slot, by_numpy);
        default:
            return is_of_kernels(slot->op) ? walk_of_kernels(slot) : walk_operation(slot, by_numpy);
    }
}

// A comparison of types beside other conditions.
Operand Typer::walk_types_equal(Expr*& slot) {
    const auto known = answer(*slot);
    if (!known) return kUnknownOperand;
    if (rewriting()) {
        const Span span = slot->span;
        slot = context_.module.make_expr(Op::kConst, Type::of(Scalar::kBool), span);
        slot->constant.value = *known;
    }
    return {.type = Type::of(Scalar::kBool)};
}

Operand Typer::walk_const(Expr& expr) {
    Operand operand;
    operand.constant = expr.constant;
    operand.type = expr.type;
    if (std::holds_alternative<bool>(expr.constant.value)) {
        operand.type = Type::weak_of(Scalar::kBool);
    }
    if (rewriting()) {
        expr.type = storage(operand.type);
        expr.constant = constant_as(expr.type.scalar, expr.constant);
    }
    return operand;
}

Operand Typer::walk_var(Expr*& slot) {
    Var* var = slot->var;
    Operand operand;
    if (var->type.is_array()) {  // all of it: x[:, :]
        operand.type = Type::of(var->type.scalar);
        operand.rank = var->type.rank;
        if (rewriting()) {
            slot->op = Op::kLoad;
            slot->type = operand.type;
            for (int axis = 0; axis < operand.rank; ++axis) {
                slot->operands.push_back(
                    context_.module.make_expr(Op::kSlice, Type::none(), slot->span));
            }
        }
        return operand;
    }
    operand.type = var->type;
    operand.constant = var->constant_value();
    if (!rewriting()) {
        return operand;
    }
    slot->type = storage(var->type);
    if (operand.constant) {
        slot->op = Op::kConst;
        slot->var = nullptr;
        slot->constant = constant_as(slot->type.scalar, *operand.constant);
    } else if (const Type kept = kept_type(*var); kept != slot->type) {
        slot->type = kept;
        slot = Builder(context_.module, slot->span).convert(slot, storage(var->type).scalar);
    }
    return operand;
}

// x.ndim of a number is 0, as for NumPy's: functions use it to distinguish arrays from numbers.
Operand Typer::walk_rank_of_number(Expr*& slot) {
    Operand operand;
    operand.type = Type::weak_of(Scalar::kI64);
    operand.constant = Constant{std::int64_t{0}};
    if (rewriting()) {
        Builder b(context_.module, slot->span);
        slot = b.constant(Type::of(index_scalar()), Constant{std::int64_t{0}});
    }
    return operand;
}

// x.shape[i], x.ndim and x.size, all Python integers.
Operand Typer::walk_shape(Expr*& slot) {
    const Var* array = slot->var;
    if (!array->type.is_array()) {
        if (!array->type.is_unknown() && slot->op == Op::kRank) return walk_rank_of_number(slot);
        if (!array->type.is_unknown()) {
            report(
                Code::kP204, slot->span,
                "'" + array->shown() + "' is " + a_python_name(array->type) + " and has no shape",
                "pass an array for '" + array->shown() + "'");
        }
        return kUnknownOperand;
    }
    const int rank = array->type.rank;
    const std::string has = "'" + array->shown() + "' has " + std::to_string(rank) +
                            (rank == 1 ? " dimension" : " dimensions");
    const auto* demanded = std::get_if<std::int64_t>(&slot->constant.value);
    if (slot->op == Op::kExtent && demanded != nullptr && *demanded != rank) {
        report(Code::kP220, slot->span,
               has + ", but its shape is unpacked into " + std::to_string(*demanded) +
                   (*demanded == 1 ? " name" : " names"),
               "give one name per dimension");
        return kUnknownOperand;
    }
    const int axis = slot->index < 0 ? slot->index + rank : slot->index;
    if (slot->op == Op::kExtent && (axis < 0 || axis >= rank)) {
        report(Code::kP216, slot->span,
               has + ", so there is no axis " + std::to_string(slot->index),
               rank == 0 ? "it is a single element: '" + array->shown() + "[()]'"
                         : "use an axis from 0 to " + std::to_string(rank - 1));
        return kUnknownOperand;
    }
    if (array->dims.empty() && rank > 0 && slot->op != Op::kRank) {
        return walk_named_shape(slot, axis);
    }
    std::int64_t known = 1;
    std::vector<Var*> at_run_time;
    const auto multiply = [&](const Dim& dim) {
        if (dim.extent) {
            known *= *dim.extent;
        } else {
            at_run_time.push_back(dim.extent_var);
        }
    };
    if (is_stride(*slot)) {
        const Dim& dim = array->dims[static_cast<std::size_t>(axis)];
        known = size_in_bytes(array->type.scalar) * dim.stride.value_or(1);
        if (!dim.stride) at_run_time.push_back(dim.stride_var);
    } else if (slot->op == Op::kExtent) {
        multiply(array->dims[static_cast<std::size_t>(axis)]);
    } else if (slot->op == Op::kSize) {
        std::ranges::for_each(array->dims, multiply);
    } else {
        known = rank;
    }
    Operand operand;
    operand.type = Type::weak_of(Scalar::kI64);
    if (at_run_time.empty()) {
        operand.constant = Constant{known};
    }
    if (rewriting()) {
        Builder b(context_.module, slot->span);
        Expr* value = at_run_time.empty() || known != 1 ? b.integer(known) : nullptr;
        for (Var* extent : at_run_time) {
            value = value == nullptr ? b.var(extent) : b.binary(Op::kMul, value, b.var(extent));
        }
        slot = value->op == Op::kConst ? b.constant(Type::of(index_scalar()), value->constant)
                                       : b.convert(value, index_scalar());
    }
    return operand;
}

Operand Typer::walk_convert(Expr*& slot) {
    return walk_convert_to(slot, slot->type);
}

// fold_static has left a computed array, or a sum with one, as operand 1.
Operand Typer::walk_convert_like(Expr*& slot) {
    Expr*& like = slot->operands[1];
    const bool is_sum = like->op == Op::kAdd;
    const Type found = is_sum ? common_type(*like) : walk(like).type;
    if (found.is_scalar()) return walk_convert_to(slot, Type::of(found.scalar));
    if (rewriting())
        report(Code::kP213, like->span,
               is_sum ? "this type cannot be inferred"
                      : "the type of the elements of '" + like->var->shown() + "' is not known",
               "use the type of a parameter or of an array, x.dtype");
    return kUnknownOperand;
}

// The type that holds all operands of a sum, whose shapes do not matter: np.result_type.
Type Typer::common_type(const Expr& sum) const {
    if (sum.op != Op::kAdd) return typed_copy(sum).type;
    const Type a = common_type(*sum.operands[0]), b = common_type(*sum.operands[1]);
    return a.is_scalar() && b.is_scalar() ? promote(a, b) : Type::unknown();
}

Operand Typer::walk_convert_to(Expr*& slot, Type to) {
    const Operand from = walk_value(slot->operands[0]);
    Operand operand;
    if (!from.type.is_scalar() || refuses_complex(from.type, to, slot->operands[0]->span)) {
        return operand;
    }
    operand.type = to;
    operand.rank = from.rank;
    if (rewriting()) {
        slot = convert(slot->operands[0], from.type, to);
    }
    return operand;
}

// ---------------------------------------------------------------- logic

int Typer::walk_condition(Expr*& slot) {
    if (slot->op == Op::kAnd || slot->op == Op::kOr || slot->op == Op::kNot) {
        int rank = 0;
        Body* const before = before_;
        for (Expr*& operand : slot->operands) {
            rank = std::max(rank, walk_condition(operand));
            before_ = nullptr;  // the other operands may not be evaluated
        }
        before_ = before;
        if (rewriting()) {
            slot->type = Type::of(Scalar::kBool);
        }
        return rank;
    }
    const Operand operand = walk_value(slot);
    if (rewriting() && operand.type.is_scalar()) {
        slot = truth(slot);
    }
    return operand.rank;
}

void Typer::walk_test(Expr*& slot) {
    const int rank = walk_condition(slot);
    needs_scalar(*slot, rank);
}

// If one of the two is, or awaits, the result of a recursive function, it starts with the type of
// the other.
Type Typer::found_so_far(const Operand& a, const Operand& b) const {
    if (phase_ != Phase::kFind || a.type.is_unknown() == b.type.is_unknown()) return {};
    const Type& known = a.type.is_unknown() ? b.type : a.type;
    return known.is_scalar() ? known : Type{};
}

// `a or b` is one of its operands, as in Python.
Operand Typer::walk_logical(Expr*& slot) {
    Expr& expr = *slot;
    Operand operands[2];
    operands[0] = walk_value(expr.operands[0]);
    Body* const before = std::exchange(before_, nullptr);  // the other may not be evaluated
    operands[1] = walk_value(expr.operands[1]);
    before_ = before;
    const Operand &a = operands[0], &b = operands[1];
    Operand result;
    result.rank = std::max(a.rank, b.rank);
    if (!a.type.is_scalar() || !b.type.is_scalar()) {
        result.type = found_so_far(a, b);
        return result;
    }
    if (a.type.scalar == Scalar::kBool && b.type.scalar == Scalar::kBool) {
        result.type = type_operation(expr.op, operands).result;
        if (rewriting()) {
            expr.type = Type::of(Scalar::kBool);
        }
        return result;
    }
    result.type = join(a, b);
    if (!rewriting() || !repeatable(*expr.operands[0], expr.op == Op::kOr ? "or" : "and")) {
        return result;
    }
    Builder build(context_.module, expr.span);
    Expr* condition = truth(clone(context_.module, expr.operands[0]));
    const Type kept = storage(result.type);
    Expr* first = convert(expr.operands[0], a.type, kept);
    Expr* second = convert(expr.operands[1], b.type, kept);
    slot = expr.op == Op::kOr ? build.select(condition, first, second)
                              : build.select(condition, second, first);
    return result;
}

namespace {

// Whether the statement stores to elements of an array, all of which a number would fill.
bool fills(const Stmt* stmt) {
    const auto* store = stmt == nullptr ? nullptr : stmt->as<Store>();
    return store != nullptr && !(store->array->type.is_array() && store->array->type.weak);
}

}  // namespace

// Refuses an element of a tuple that is one of several types of Python's numbers.
void Typer::refuse_mixed_item(const Expr& chosen) {
    std::vector<Type> types;
    const auto add = [&](const Expr& element) { types.push_back(typed_copy(element).type); };
    const Expr* rest = &chosen;
    for (; rest->op == Op::kSelect && rest->index != 0; rest = rest->operands[2])
        add(*rest->operands[1]);
    add(*rest);
    const bool pythons =
        std::ranges::all_of(types, [](const Type& t) { return t.is_scalar() && t.weak; });
    const auto other = std::ranges::find_if(types, [&](const Type& t) { return t != types[0]; });
    if (!pythons || other == types.end()) return;
    refuse_call(Code::kP025, chosen.span,
                "this element of a tuple is " + a_python_name(types[0]) + " or " +
                    a_python_name(*other) + ", depending on the subscript",
                "give all elements one type, or write a constant subscript");
}

Operand Typer::walk_select(Expr*& slot, bool by_numpy) {
    Expr& expr = *slot;
    if (expr.index == kChoosesItem && rewriting()) refuse_mixed_item(expr);
    const int rank = walk_condition(expr.operands[0]);
    // NumPy's function evaluates both values, Python's choice one of them.
    Body* const before = std::exchange(before_, by_numpy ? before_ : nullptr);
    Body* const around = std::exchange(around_choice_, before != nullptr ? before : around_choice_);
    Operand branches[2] = {walk_value(expr.operands[1]), walk_value(expr.operands[2])};
    before_ = before;
    around_choice_ = around;
    const bool made = by_numpy && made_numpy(branches);
    const Operand &a = branches[0], &b = branches[1];
    Operand result;
    result.rank = std::max({rank, a.rank, b.rank});
    if (!a.type.is_scalar() || !b.type.is_scalar()) {
        result.type = found_so_far(a, b);
        return result;
    }
    if (!by_numpy && rewriting() && rank == 0 && (a.rank == 0) != (b.rank == 0) && !fills(stmt_)) {
        refuse_call(Code::kP217, expr.span,
                    "this value is an array or a number, depending on the condition",
                    "write an if statement whose branches return or name the one and the other");
        return result;
    }
    if (!by_numpy && have_no_common_type(a, b)) {
        report(Code::kP200, expr.span,
               "the value is np.uint64 or a Python integer, and no type holds both",
               "convert the Python integer, np.uint64(…), or the other, int(…)");
        return result;
    }
    result.type = by_numpy ? promote(a.type, b.type) : join(a, b);
    if (expr.index == kChoosesItemOfOneType && rewriting() && is_float(result.type.scalar)) {
        for (std::size_t i = 1; i < 3; ++i) {
            if (is_integer(branches[i - 1].type.scalar)) require_exact(*expr.operands[i]);
        }
    }
    if (made) result.type = of_python_size(result.type);
    for (std::size_t i = 1; by_numpy && i < 3; ++i)
        hold_broadcast(expr.operands[i], branches[i - 1], result.rank);
    if (rewriting()) {
        expr.type = storage(result.type);
        // np.where casts values that do not fit.
        expr.operands[1] =
            convert(expr.operands[1], by_numpy ? storage(a.type) : a.type, expr.type);
        expr.operands[2] =
            convert(expr.operands[2], by_numpy ? storage(b.type) : b.type, expr.type);
    }
    return result;
}

// ---------------------------------------------------------------- operators

// The result of a NumPy function is no Python number.
Operand Typer::walk_numpy(Expr*& slot) {
    Operand operand = walk(slot->operands[0], true);
    operand.type = storage(operand.type);
    if (rewriting()) {
        slot = slot->operands[0];
    }
    return operand;
}

Operand Typer::walk_operation(Expr*& slot, bool by_numpy) {
    Expr& expr = *slot;
    std::vector<Operand> operands;
    operands.reserve(expr.operands.size());
    if (expr.op == Op::kNot || expr.op == Op::kPyBool) {
        Operand result;
        result.type = Type::weak_of(Scalar::kBool);
        result.rank = walk_condition(expr.operands[0]);
        if (rewriting()) {
            expr.type = Type::of(Scalar::kBool);
            slot = expr.op == Op::kPyBool ? expr.operands[0] : slot;
        }
        return result;
    }
    const bool certain = reach_.certain;
    for (Expr*& operand : expr.operands) {
        operands.push_back(walk_value(operand));
        reach_.certain = reach_.certain && !has_branches(expr.op);
    }
    reach_.certain = certain;
    const bool made = by_numpy && made_numpy(operands);
    Operand result;
    for (const Operand& operand : operands) {
        result.rank = std::max(result.rank, operand.rank);
    }
    for (std::size_t i = 0; operands.size() > 1 && i < operands.size(); ++i)
        hold_broadcast(expr.operands[i], operands[i], result.rank);
    if (expr.op == Op::kNeg || expr.op == Op::kPos) {
        const auto constant = expr.op == Op::kNeg ? negated(operands[0]) : operands[0].constant;
        if (constant && operands[0].type.weak) {
            result.type = operands[0].type;
            if (result.type.scalar == Scalar::kBool) {
                result.type.scalar = Scalar::kI64;
            }
            result.constant = constant;
            if (rewriting()) {
                slot =
                    Builder(context_.module, expr.span).constant(storage(result.type), *constant);
            }
            return result;
        }
    }
    if (const auto value = computed(expr.op, operands)) {
        result.type = operands[0].type;
        result.constant = Constant{*value};
        if (rewriting()) {
            slot = Builder(context_.module, expr.span)
                       .constant(storage(result.type), *result.constant);
        }
        return result;
    }
    Typing typing = type_operation(expr.op, operands);
    if (!typing.error.empty()) {
        report(typing, expr.span);
        return result;
    }
    if (made) {
        typing.operand = of_python_size(typing.operand);
        typing.result = of_python_size(typing.result);
    }
    result.type = typing.result;
    if (rewriting() && typing.result.is_scalar()) {
        slot = apply(typing, &expr, operands);
        if (by_numpy || result.rank > 0) slot = without_nan(slot, typing);
    }
    return result;
}

}  // namespace parpy
