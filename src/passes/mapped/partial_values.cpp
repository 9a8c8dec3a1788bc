// See partial_values.h.
#include "passes/mapped/partial_values.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

std::int64_t largest(Scalar type) {
    const int bits = size_in_bytes(type) * 8;
    if (is_unsigned_integer(type)) {
        // The bits of the value, as in constants of u64.
        return bits == 64 ? -1 : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
    }
    return static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
}

std::int64_t smallest(Scalar type) {
    if (is_unsigned_integer(type)) return 0;
    return -largest(type) - 1;
}

// A float, or a complex number with two parts, of the value.
Expr* real_parts(Builder& builder, Scalar type, double value) {
    if (is_float(type)) return builder.real(value, type);
    return builder.constant(Type::of(type), Constant{std::complex<double>(value, value)});
}

Expr* extreme(Builder& builder, Scalar type, bool high) {
    if (type == Scalar::kBool) return builder.boolean(high);
    if (is_integer(type)) return builder.integer(high ? largest(type) : smallest(type), type);
    const double infinity = std::numeric_limits<double>::infinity();
    return real_parts(builder, type, high ? infinity : -infinity);
}

std::string_view noun(Op op) {
    switch (op) {
        case Op::kAdd:
            return "sum";
        case Op::kMul:
            return "product";
        case Op::kAnd:
            return "all";
        case Op::kOr:
            return "any";
        case Op::kBitAnd:
            return "bit_and";
        case Op::kBitOr:
            return "bit_or";
        case Op::kBitXor:
            return "bit_xor";
        default:
            return text(op);
    }
}

// Whether a op b and b op a may differ in a bit (the sign of a zero).
bool ordered(Op op, Scalar type) {
    return picks_one(op) && !is_integer(type) && type != Scalar::kBool;
}

}  // namespace

namespace {

bool in_range(const Intervals& ranges, const Expr& index, const Dim& dim) {
    if (index.op == Op::kConvert) return in_range(ranges, *index.operands[0], dim);
    if (const auto value = constant_integer(&index)) {
        return *value >= 0 && (!dim.extent || *value < *dim.extent);
    }
    return index.op == Op::kVar && dim.extent && ranges.of(index.var).within({0, *dim.extent - 1});
}

}  // namespace

bool always_exists(const Intervals& ranges, const Reduction& target) {
    for (std::size_t i = 0; i < target.indices.size(); ++i) {
        if (!in_range(ranges, *target.indices[i], target.var->dims[i])) return false;
    }
    return true;
}

bool updates(const Stmt& stmt, const Reduction& target) {
    if (const auto* assign = stmt.as<Assign>()) return assign->update && assign->var == target.var;
    const auto* store = stmt.as<Store>();
    return store != nullptr && store->update && store->array == target.var &&
           same(store->indices, target.indices);
}

Scalar computed_in(const Body& body, const Reduction& target) {
    Scalar widest = target.var->type.scalar;
    for_each_stmt(body, [&](const Stmt& stmt) {
        if (!updates(stmt, target)) return;
        const auto* assign = stmt.as<Assign>();
        const Expr* value = assign != nullptr ? assign->value : stmt.as<Store>()->value;
        if (is_wider(value->type.scalar, widest)) widest = value->type.scalar;
    });
    return widest;
}

Scalar accumulator_of(Op op, Scalar element) {
    if (picks_one(op)) return element;
    return element == Scalar::kF16 || element == Scalar::kBF16 ? Scalar::kF32 : element;
}

Op combining(Op update) {
    return update == Op::kSub ? Op::kAdd : update;
}

Expr* identity(Builder& builder, Op op, Scalar type) {
    switch (op) {
        case Op::kAdd:  // 0.0 would turn a sum of -0.0 into 0.0
            if (is_float(type) || is_complex(type)) return real_parts(builder, type, -0.0);
            return builder.constant(Type::of(type), Constant{std::int64_t{0}});
        case Op::kMul:
            return builder.constant(Type::of(type), Constant{std::int64_t{1}});
        case Op::kMin:
        case Op::kMinimum:
            return extreme(builder, type, true);
        case Op::kMax:
        case Op::kMaximum:
            return extreme(builder, type, false);
        case Op::kFmin:
        case Op::kFmax:
            return is_float(type) || is_complex(type)
                       ? real_parts(builder, type, std::numeric_limits<double>::quiet_NaN())
                       : extreme(builder, type, op == Op::kFmin);
        case Op::kAnd:
            return builder.boolean(true);
        case Op::kBitAnd:
            return type == Scalar::kBool ? builder.boolean(true) : builder.integer(-1, type);
        default:
            return builder.constant(Type::of(type), Constant{std::int64_t{0}});
    }
}

Function* WarpReductions::function(Op op, Scalar type, Span span) {
    Function*& made = made_[{op, type}];
    if (made != nullptr) return made;
    std::string name = "warp_" + std::string(noun(op)) + "_" + std::string(ir::name(type));
    const auto taken = [&] {
        return std::any_of(module_.functions.begin(), module_.functions.end(),
                           [&](const Function* f) { return f->name == name; });
    };
    while (taken())
        name += "_";
    made = module_.make_function(name, FunctionKind::kHelper, span);
    made->result = Type::of(type);

    Builder builder(module_, span);
    Var* value = builder.scalar("value", type);
    made->params = {value};
    Var* other = nullptr;
    for (std::int64_t lanes = kWarpSize / 2; lanes > 0; lanes /= 2) {
        const auto distance = [&] { return builder.integer(lanes, Scalar::kI32); };
        Expr* received = builder.binary(Op::kShuffleXor, builder.var(value), distance());
        const bool short_circuit = op == Op::kAnd || op == Op::kOr;
        if (!ordered(op, type) && !short_circuit) {
            made->body.push_back(
                builder.assign(value, builder.binary(op, builder.var(value), received)));
            continue;
        }
        if (other == nullptr) other = builder.scalar("other", type);
        made->body.push_back(builder.assign(other, received));
        if (short_circuit) {  // every lane must take part in the exchange, whatever its value
            made->body.push_back(
                builder.assign(value, builder.binary(op, builder.var(value), builder.var(other))));
            continue;
        }
        // The lower lane's value is the first operand, so that both lanes get the same bits.
        Expr* upper = builder.binary(
            Op::kNe, builder.binary(Op::kBitAnd, builder.reg(Register::kLane), distance()),
            builder.integer(0, Scalar::kI32));
        Expr* result =
            builder.select(upper, builder.binary(op, builder.var(other), builder.var(value)),
                           builder.binary(op, builder.var(value), builder.var(other)));
        made->body.push_back(builder.assign(value, result));
    }
    made->body.push_back(builder.return_(builder.var(value)));
    return made;
}

}  // namespace parpy
