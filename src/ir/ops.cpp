// The operator table and the facts derived from it (ops.def, ops.h).
#include "ir/ops.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace parpy::ir {
namespace {

enum Trait : unsigned {
    kPlain = 0,
    kInfix = 1U << 0U,
    kCompares = 1U << 1U,
    kPicksOne = 1U << 2U,
    kBranches = 1U << 3U,
    kTakesComplex = 1U << 4U,
    kHasEffects = 1U << 5U,
    kAggregate = 1U << 6U,
    kOfSlices = 1U << 7U,
    kStatic = 1U << 8U,
};

struct OpRow {
    std::string_view text;
    int arity;
    TypeRule rule;
    unsigned traits;
};

constexpr OpRow kOps[] = {
#define OP(enumerator, text, arity, rule, traits) {text, arity, TypeRule::rule, traits},
#include "ir/ops.def"
#undef OP
};

const OpRow& row(Op op) {
    return kOps[static_cast<std::size_t>(op)];
}

bool has(Op op, Trait trait) {
    return (row(op).traits & trait) != 0;
}

constexpr std::array<std::string_view, 17> kRegisters = {
    "thread.x",   "thread.y",   "thread.z",   "block.x",       "block.y",     "block.z",
    "blockdim.x", "blockdim.y", "blockdim.z", "griddim.x",     "griddim.y",   "griddim.z",
    "lane",       "warp",       "warpsize",   "stack.pointer", "stack.limit",
};

constexpr std::array<std::string_view, 13> kAtomics = {
    "add", "sub", "min",      "max", "nanmin", "nanmax", "and",
    "or",  "xor", "exchange", "inc", "dec",    "cas",
};

constexpr std::array<std::string_view, 7> kReductions = {"sum", "prod", "min", "max",
                                                         "any", "all",  "mean"};

// The scalar type of all operands, unknown if they differ.
Type common_type(const std::vector<Expr*>& operands) {
    if (operands.empty()) {
        return Type::unknown();
    }
    const Type first = operands[0]->type;
    const bool same =
        std::ranges::all_of(operands, [&](const Expr* e) { return e->type == first; });
    return same && first.is_scalar() ? first : Type::unknown();
}

Type special_result(const Expr& expr) {
    const auto operand = [&](std::size_t i) {
        return i < expr.operands.size() ? expr.operands[i]->type : Type::unknown();
    };
    switch (expr.op) {
        case Op::kLoad:
            if (is_row(expr)) return expr.type;
            return expr.var != nullptr && expr.var->type.is_array()
                       ? Type::of(expr.var->type.scalar)
                       : Type::unknown();
        case Op::kExtent:
            return Type::of(Scalar::kI64);
        case Op::kSlice:
        case Op::kNewAxis:
            return Type::none();
        case Op::kReduce:
            return operand(0);
        case Op::kMatMul:
            return common_type(expr.operands);
        case Op::kCall:
            return expr.callee != nullptr ? expr.callee->result : Type::unknown();
        case Op::kConvert:
            return expr.type;
        case Op::kPyInt:
        case Op::kPyIndex:
            return Type::weak_of(Scalar::kI64);
        case Op::kPyFloat:
            return Type::weak_of(Scalar::kF64);
        case Op::kPyBool:
            return Type::of(Scalar::kBool);
        case Op::kBits:
            return Type::of(Scalar::kI64);
        case Op::kNumpy:
        case Op::kOutput:
        case Op::kRound:
        case Op::kFull:
        case Op::kLike:
        case Op::kEmpty:
        case Op::kTranspose:
        case Op::kReshape:
            return operand(0);
        case Op::kSelect:
            return operand(1) == operand(2) ? operand(1) : Type::unknown();
        case Op::kFloor:
        case Op::kCeil:
        case Op::kTrunc:
        case Op::kRint:
        case Op::kShuffleDown:
        case Op::kShuffleXor:
        case Op::kShuffleCluster:
        case Op::kShfl:
        case Op::kShflUp:
        case Op::kShflDown:
        case Op::kShflXor:
        case Op::kReverse:
            return operand(0);
        case Op::kBallot:
        case Op::kMatchAny:
        case Op::kMatchAll:
        case Op::kActiveMask:
            return Type::of(Scalar::kU32);
        case Op::kAligned:
        case Op::kVoteAll:
        case Op::kVoteAny:
        case Op::kSyncAll:
        case Op::kSyncAny:
            return Type::of(Scalar::kBool);
        case Op::kSyncCount:
        case Op::kPopCount:
        case Op::kLeadingZeros:
        case Op::kFirstSet:
            return Type::of(Scalar::kI32);
        case Op::kSyncWarp:
        case Op::kSleep:
        case Op::kTile:
        case Op::kMma:
            return Type::none();
        case Op::kReal:
        case Op::kImag:
            return operand(0).is_scalar() ? Type::of(real_part_of(operand(0).scalar))
                                          : Type::unknown();
        case Op::kComplex: {
            const Type common = common_type(expr.operands);
            return common.is_scalar() ? Type::of(complex_of(common.scalar)) : common;
        }
        case Op::kAtomic:
            return expr.operands.empty() ? Type::unknown() : expr.operands.back()->type;
        default:
            return Type::unknown();
    }
}

}  // namespace

std::string_view text(Op op) {
    return row(op).text;
}
int arity(Op op) {
    return row(op).arity;
}
TypeRule rule(Op op) {
    return row(op).rule;
}

std::optional<Op> op_from_text(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kOps); ++i) {
        if (kOps[i].text == text) {
            return static_cast<Op>(i);
        }
    }
    return std::nullopt;
}

Type typed_result(const Expr& expr) {
    switch (rule(expr.op)) {
        case TypeRule::kLeaf:
            switch (expr.op) {
                case Op::kVar:
                case Op::kArray:
                    return expr.var != nullptr ? expr.var->type : Type::unknown();
                case Op::kRegister:
                    return Type::of(type_of(expr.reg));
                default:
                    return expr.type;
            }
        case TypeRule::kSame:
            if (expr.op == Op::kAbs) {  // the modulus of a complex number is real
                const Type type = common_type(expr.operands);
                return type.is_scalar() ? Type::of(real_part_of(type.scalar)) : type;
            }
            [[fallthrough]];
        case TypeRule::kFloat:
        case TypeRule::kDivide:
        case TypeRule::kInteger:
            return common_type(expr.operands);
        case TypeRule::kCompare:
        case TypeRule::kPredicate:
            return common_type(expr.operands).is_scalar() ? Type::of(Scalar::kBool)
                                                          : Type::unknown();
        case TypeRule::kLogical:
            return common_type(expr.operands).is(Scalar::kBool) ? Type::of(Scalar::kBool)
                                                                : Type::unknown();
        case TypeRule::kSpecial:
            return special_result(expr);
    }
    return Type::unknown();
}

Scalar real_part_of(Scalar scalar) {
    switch (scalar) {
        case Scalar::kC64:
            return Scalar::kF32;
        case Scalar::kC128:
            return Scalar::kF64;
        default:
            return scalar;
    }
}

Scalar complex_of(Scalar scalar) {
    switch (scalar) {
        case Scalar::kF32:
            return Scalar::kC64;
        case Scalar::kF64:
            return Scalar::kC128;
        default:
            return scalar;
    }
}

bool is_infix(Op op) {
    return has(op, kInfix);
}
bool is_comparison(Op op) {
    return has(op, kCompares);
}
bool picks_one(Op op) {
    return has(op, kPicksOne);
}
bool has_branches(Op op) {
    return has(op, kBranches);
}
bool takes_complex(Op op) {
    return has(op, kTakesComplex);
}
bool has_effects(Op op) {
    return has(op, kHasEffects);
}
bool is_aggregate(Op op) {
    return has(op, kAggregate);
}
bool is_of_slices(Op op) {
    return has(op, kOfSlices);
}
bool is_static(Op op) {
    return has(op, kStatic);
}

int product_rank(int left, int right) {
    if (right <= 2) return left - 1 + right - 1;
    return left == 1 ? right - 1 : std::max(left, right);
}

bool is_update(Op op) {
    return picks_one(op) || (is_infix(op) && !is_comparison(op));
}

std::vector<std::size_t> transposed_axes(const Expr& expr, std::size_t rank) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        const std::int64_t axis = std::get<std::int64_t>(expr.operands[i]->constant.value);
        axes.push_back(static_cast<std::size_t>(axis) + (axis < 0 ? rank : 0));
    }
    for (std::size_t i = rank; axes.size() < rank;)
        axes.push_back(--i);
    return axes;
}

bool is_stride(const Expr& expr) {
    return (expr.op == Op::kExtent || expr.op == Op::kShape) && expr.constant == Constant{true};
}

const Expr& viewed(const Expr& expr) {
    const bool moved = expr.op == Op::kTranspose || expr.op == Op::kReshape;
    return moved ? viewed(*expr.operands[0]) : expr;
}

bool is_view(const Expr& expr) {
    if (expr.op == Op::kTranspose || expr.op == Op::kReshape) return is_view(*expr.operands[0]);
    const auto is_part = [](const Expr* e) { return e->op == Op::kSlice || e->op == Op::kNewAxis; };
    return expr.op == Op::kLoad && std::ranges::any_of(expr.operands, is_part) &&
           std::ranges::all_of(expr.operands,
                               [&](const Expr* e) { return is_part(e) || !has_slices(*e); });
}

bool is_row(const Expr& expr) {
    return expr.op == Op::kLoad && expr.type.is_array();
}

bool is_open_row(const Expr& expr) {
    return is_row(expr) && expr.operands.size() + expr.type.rank > expr.var->type.rank;
}

Var* array_passed(const Expr& argument) {
    return argument.op == Op::kArray || is_row(argument) ? argument.var : nullptr;
}

std::optional<int> simple_power(const Expr& exponent) {
    const bool negated = exponent.op == Op::kNeg;
    const Expr& number = negated ? *exponent.operands[0] : exponent;
    if (number.op != Op::kConst) return std::nullopt;
    const auto* integer = std::get_if<std::int64_t>(&number.constant.value);
    const auto* real = std::get_if<double>(&number.constant.value);
    if (integer == nullptr && real == nullptr) return std::nullopt;
    const double size = 2 * (integer != nullptr ? static_cast<double>(*integer) : *real);
    const double twice = negated ? -size : size;
    constexpr int kMostWhole = 15, kMostOdd = 7;  // x ** 15, x ** 3.5
    if (twice != std::rint(twice) || std::abs(twice) > 2 * kMostWhole) return std::nullopt;
    const int result = static_cast<int>(twice);
    const bool whole = result % 2 == 0;
    // Powers of 0, 1 and 2 are simpler still (fold-constants).
    if (whole && result >= 0 && result <= 4) return std::nullopt;
    if (!whole && std::abs(result) > kMostOdd) return std::nullopt;
    return result;
}

bool has_effects(const Expr& expr) {
    return has_effects(expr.op) ||
           std::ranges::any_of(expr.operands, [](const Expr* e) { return has_effects(*e); });
}

bool has_slices(const Expr& expr) {
    return is_of_slices(expr.op) ||
           std::ranges::any_of(expr.operands, [](const Expr* e) { return has_slices(*e); });
}

std::string_view text(SliceReduction reduction) {
    return kReductions[static_cast<std::size_t>(reduction)];
}

std::optional<SliceReduction> slice_reduction_from_text(std::string_view text) {
    const auto found = std::ranges::find(kReductions, text);
    if (found == kReductions.end()) {
        return std::nullopt;
    }
    return static_cast<SliceReduction>(found - kReductions.begin());
}

Scalar type_of(Register reg) {
    return reg < Register::kStackPointer ? Scalar::kI32 : Scalar::kI64;
}

std::string_view text(Atomic atomic) {
    return kAtomics[static_cast<std::size_t>(atomic)];
}

std::optional<Atomic> atomic_from_text(std::string_view text) {
    const auto found = std::ranges::find(kAtomics, text);
    if (found == kAtomics.end()) {
        return std::nullopt;
    }
    return static_cast<Atomic>(found - kAtomics.begin());
}

std::string_view text(Register reg) {
    return kRegisters[static_cast<std::size_t>(reg)];
}

std::optional<Register> register_from_text(std::string_view text) {
    const auto found = std::ranges::find(kRegisters, text);
    if (found == kRegisters.end()) {
        return std::nullopt;
    }
    return static_cast<Register>(found - kRegisters.begin());
}

bool suits(const Expr& e) {
    const auto all = [&](auto&& predicate) {
        for (const Expr* operand : e.operands) {
            if (!operand->type.is_scalar() || !predicate(operand->type.scalar)) {
                return false;
            }
        }
        return true;
    };
    const auto any_scalar = [](Scalar) { return true; };
    switch (rule(e.op)) {
        case TypeRule::kFloat:
        case TypeRule::kDivide:
            return all([](Scalar s) { return is_float(s) || is_complex(s); });
        case TypeRule::kInteger:
            return all([](Scalar s) { return is_integer(s) || s == Scalar::kBool; });
        case TypeRule::kLogical:
            return all([](Scalar s) { return s == Scalar::kBool; });
        case TypeRule::kSame:
        case TypeRule::kCompare:
        case TypeRule::kPredicate:
            return all(any_scalar);
        case TypeRule::kLeaf:
        case TypeRule::kSpecial:
            break;
    }
    switch (e.op) {
        case Op::kConvert:
            return all(any_scalar);
        case Op::kSelect:
            return e.operands[0]->type.is(Scalar::kBool);
        case Op::kComplex:
            return all([](Scalar s) { return is_float(s); });
        default:
            return true;
    }
}

}  // namespace parpy::ir
