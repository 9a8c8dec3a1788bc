// Types the operations of kernels written by hand: hardware indices, exchanges between threads,
// atomic operations and foreign functions. Indices, counts and masks are Python ints, so that
// arithmetic with them never overflows; narrow_indices finds out where 32 bits do.
#include <algorithm>

#include "analysis/host_calls.h"
#include "analysis/memory/contiguity.h"
#include "dialects/dialect.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// The type that an operand of such an operator is converted to.
enum class Wants : std::uint8_t { kNothing, kValue, kTruth, kMask, kInt, kBits };

struct OperandWants {
    Wants operands[4] = {};
};

OperandWants wants_of(Op op) {
    using enum Wants;
    switch (op) {
        case Op::kShfl:
        case Op::kShflUp:
        case Op::kShflDown:
        case Op::kShflXor:
            return {{kValue, kMask, kInt, kInt}};
        case Op::kBallot:
        case Op::kVoteAll:
        case Op::kVoteAny:
            return {{kTruth, kMask}};
        case Op::kMatchAny:
        case Op::kMatchAll:
            return {{kValue, kMask}};
        case Op::kSyncWarp:
        case Op::kSleep:
            return {{kMask}};
        case Op::kSyncCount:
        case Op::kSyncAll:
        case Op::kSyncAny:
            return {{kTruth}};
        default:
            return {{kBits}};
    }
}

// Whether elements of this type have the operation.
bool applies_to(Atomic atomic, Scalar scalar) {
    switch (atomic) {
        case Atomic::kAnd:
        case Atomic::kOr:
        case Atomic::kXor:
            return is_integer(scalar) || scalar == Scalar::kBool;
        case Atomic::kIncrement:
        case Atomic::kDecrement:
            return is_integer(scalar);
        case Atomic::kMin:
        case Atomic::kMax:
        case Atomic::kNanMin:
        case Atomic::kNanMax:
            return is_integer(scalar) || is_float(scalar);
        case Atomic::kAdd:
        case Atomic::kSub:
            return scalar != Scalar::kBool;
        default:
            return scalar != Scalar::kC128;
    }
}

}  // namespace

bool Typer::is_of_kernels(Op op) {
    return (op > Op::kAtomic && op <= Op::kReverse);
}

Operand Typer::walk_register(Expr*& slot) {
    Operand operand;
    operand.type = Type::weak_of(Scalar::kI64);
    if (rewriting()) {
        slot->type = Type::of(type_of(slot->reg));
        slot = Builder(context_.module, slot->span).convert(slot, index_scalar());
    }
    return operand;
}

Operand Typer::walk_of_kernels(Expr*& slot) {
    Expr& expr = *slot;
    const OperandWants wanted = wants_of(expr.op);
    Operand result;
    result.type = Type::weak_of(Scalar::kI64);
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        Expr*& operand = expr.operands[i];
        if (wanted.operands[i] == Wants::kTruth) {
            walk_test(operand);
            continue;
        }
        const Operand value = walk_scalar(operand);
        if (!value.type.is_scalar()) return {};
        Type to = storage(value.type);
        if (wanted.operands[i] != Wants::kValue) {
            if (!is_integer(to.scalar) && !to.is(Scalar::kBool)) {
                report(Code::kP229, operand->span,
                       "this operand must be an integer, not " + a_python_name(value.type),
                       "convert it: int(…)");
                return {};
            }
            const bool wide = size_in_bytes(to.scalar) == 8;
            to = wanted.operands[i] == Wants::kMask  ? Type::of(Scalar::kU32)
                 : wanted.operands[i] == Wants::kInt ? Type::of(Scalar::kI32)
                 : wide || size_in_bytes(to.scalar) == 4
                     ? to
                     : Type::of(is_signed_integer(to.scalar) ? Scalar::kI32 : Scalar::kU32);
        } else if (to.is(Scalar::kC128) && (expr.op == Op::kMatchAny || expr.op == Op::kMatchAll)) {
            report(Code::kP229, operand->span, "complex128 values cannot be matched",
                   "match their real and imaginary parts");
            return {};
        }
        if (rewriting()) operand = convert(operand, value.type, to);
        if (i == 0 && (wanted.operands[0] == Wants::kValue || expr.op == Op::kReverse)) {
            result.type = expr.op == Op::kReverse && !value.type.weak ? to : value.type;
        }
    }
    if (expr.op == Op::kMatchAny || expr.op == Op::kMatchAll) {
        result.type = Type::weak_of(Scalar::kI64);
    } else if (expr.op == Op::kSyncWarp || expr.op == Op::kSleep) {
        result.type = Type::none();
    } else if (expr.op == Op::kVoteAll || expr.op == Op::kVoteAny || expr.op == Op::kSyncAll ||
               expr.op == Op::kSyncAny) {
        result.type = Type::weak_of(Scalar::kBool);
    }
    if (rewriting()) {
        expr.type = typed_result(expr);
        if (result.type == Type::weak_of(Scalar::kI64)) {
            slot = Builder(context_.module, expr.span).convert(slot, storage(result.type).scalar);
        }
    }
    return result;
}

// Value operands get the element type; the result is the previous element.
Operand Typer::walk_atomic(Expr*& slot) {
    Expr& expr = *slot;
    const auto atomic = static_cast<Atomic>(expr.index);
    std::vector<Expr*> indices(expr.operands.begin(),
                               expr.operands.begin() + static_cast<std::ptrdiff_t>(expr.rank()));
    if (drop_subscript(expr.var, indices)) expr.operands.erase(expr.operands.begin());
    const std::size_t rank = indices.size();
    for (Expr*& index : indices)
        needs_scalar(*index, walk_index(index, expr.var));
    std::copy(indices.begin(), indices.end(), expr.operands.begin());
    std::vector<Operand> values;
    for (std::size_t i = rank; i < expr.operands.size(); ++i)
        values.push_back(walk_scalar(expr.operands[i]));
    if (!check_subscripts(expr.var, indices, expr.span)) return {};
    Operand result;
    result.type = Type::of(expr.var->type.scalar);
    if (!rewriting()) return result;
    if (!applies_to(atomic, result.type.scalar)) {
        report(Code::kP229, expr.span,
               "there is no atomic '" + std::string(text(atomic)) + "' on elements of type " +
                   python_name(result.type),
               applies_to(atomic, Scalar::kF32) ? "use an array of integers or floats"
                                                : "use an array of integers");
        return result;
    }
    // Integers have no NaN.
    if (is_integer(result.type.scalar) && atomic == Atomic::kNanMin) {
        expr.index = static_cast<int>(Atomic::kMin);
    } else if (is_integer(result.type.scalar) && atomic == Atomic::kNanMax) {
        expr.index = static_cast<int>(Atomic::kMax);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].type.is_scalar()) continue;
        Expr*& value = expr.operands[rank + i];
        value = convert(value, values[i].type, result.type);
    }
    expr.var->written = true;
    instances_.writes.emplace(expr.var, expr.span);
    expr.type = result.type;
    return result;
}

namespace {

// Whether it is a plain `:`.
bool is_all(const Expr* e) {
    return e->op == Op::kSlice && e->operands.empty();
}

}  // namespace

// The key of x[i] or x[i, :], for a pointer to its first element. Parts of names get names, too.
ArgumentKey Typer::row_key(Expr*& slot, const Function& callee) {
    const Var& array = *slot->var;
    std::vector<Expr*>& indices = slot->operands;
    const auto is_number = [](const Expr* e) {
        return e->op != Op::kSlice && e->op != Op::kNewAxis;
    };
    const auto end = std::ranges::find_if_not(indices, is_number);
    const auto taken = static_cast<std::size_t>(end - indices.begin());
    if (!array.type.is_array() || taken >= array.type.rank || array.dims.empty())
        return argument_key(slot);
    ArgumentKey key;
    int rank = 0;
    for (auto index = indices.begin(); index != end; ++index)
        rank = std::max(rank, walk_index(*index, &array));
    if (!std::all_of(end, indices.end(), is_all) || indices.size() > array.type.rank || rank > 0) {
        report(Code::kP230, slot->span,
               "'" + callee.name + "' gets a pointer, but this part of '" + array.shown() +
                   "' is not a row of adjacent elements",
               "pass a row, " + array.shown() + "[i], or all of '" + array.shown() +
                   "' and numbers that select the part");
        return key;
    }
    key.type = Type::array(array.type.scalar, array.type.rank - static_cast<int>(taken));
    if (rewriting()) {
        indices.erase(end, indices.end());
        if (indices.empty()) slot->op = Op::kArray;
        slot->type = key.type;
    }
    return key;
}

// The parameters' types are given: numbers are converted to them, arrays must have the same element
// type.
Operand Typer::walk_foreign(Expr*& slot, const std::vector<ArgumentKey>& key) {
    Expr& call = *slot;
    Operand result;
    result.type = call.callee->result;
    if (!rewriting()) return result;
    call.type = result.type;
    const std::string_view here = kernel_dialect(context_.options.backend).name;
    const std::string& target = call.callee->target;
    const bool has_device = device_dialect(context_.options.backend) != nullptr;
    const bool on_host = has_device ? target == kCudaHost && here == "cuda" : target == kHost;
    if (!target.empty() && target != here && !on_host) {
        report(Code::kP029, call.span,
               "'" + call.callee->name + "' is a function of the back end '" + target +
                   "', but the program is for '" + std::string(here) + "'",
               "choose with parpy.builtin.static_backend_eq, or declare it for this back end too");
    }
    for (std::size_t i = 0; i < key.size(); ++i) {
        const Type& wanted = call.callee->params[i]->type;
        Expr*& argument = call.operands[i];
        if (wanted.is_array() != key[i].type.is_array() ||
            (wanted.is_array() && wanted.scalar != key[i].type.scalar)) {
            report(Code::kP230, argument->span,
                   "'" + call.callee->name + "' takes " + a_python_name(wanted) + " here, not " +
                       a_python_name(key[i].type),
                   "pass arguments of the declared types");
        } else if (wanted.is_array()) {
            const bool by_hand = is_by_hand(*context_.module.entry_function());
            const std::span<const Dim> dims = argument->var->dims;
            const std::size_t taken = argument->var->type.rank - argument->type.rank;
            const auto contiguous = lie_side_by_side(dims.subspan(taken), by_hand);
            if (contiguous != true) {
                // P222 has the program compiled for the sizes of the call.
                report(contiguous ? Code::kP230 : Code::kP222, argument->span,
                       "'" + call.callee->name + "' gets a pointer, but the elements of " +
                           (taken > 0 ? "this row of '" : "'") + argument->var->shown() +
                           "' do not lie side by side in memory",
                       "pass a contiguous array: np.ascontiguousarray makes a copy");
            }
            argument->var->written = true;
            instances_.writes.emplace(argument->var, argument->span);
        } else {
            argument = convert(argument, key[i].type, wanted);
        }
    }
    return result;
}

}  // namespace parpy
