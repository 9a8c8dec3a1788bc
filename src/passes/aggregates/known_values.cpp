// Values that follow from the kinds of others alone: integers such as x.ndim and len(t), conditions
// on them and on None, and places in tuples (kind_walk.h).
#include <algorithm>

#include "ir/builder.h"
#include "passes/aggregates/kind_walk.h"

namespace parpy {

using namespace ir;

namespace {

// Ranks, lengths and integers computed from them are far from the ends of 64 bits.
constexpr std::int64_t kGreatest = std::int64_t{1} << 30;

}  // namespace

std::optional<std::int64_t> KindWalk::integer(const Expr& expr, const KindsHere& here) const {
    const auto operand = [&](std::size_t i) -> std::optional<std::int64_t> {
        const auto value = integer(*expr.operands[i], here);
        return value && *value >= -kGreatest && *value <= kGreatest ? value : std::nullopt;
    };
    switch (expr.op) {
        case Op::kVar: {
            const auto number = numbers_.find(expr.var);
            return number != numbers_.end() ? std::optional(number->second) : std::nullopt;
        }
        case Op::kRank: {
            const Kind array = kind_of(*expr.var, here);
            return array.is_number() && array.rank >= 0 ? std::optional(array.rank) : std::nullopt;
        }
        case Op::kLength: {
            const Kind tuple = of(*expr.operands[0], here);
            if (!tuple.is_tuple()) return std::nullopt;
            return static_cast<std::int64_t>(tuple.parts.size());
        }
        case Op::kNeg: {
            const auto value = operand(0);
            return value ? std::optional(-*value) : std::nullopt;
        }
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul: {
            const auto a = operand(0), b = operand(1);
            if (!a || !b) return std::nullopt;
            return expr.op == Op::kAdd ? *a + *b : expr.op == Op::kSub ? *a - *b : *a * *b;
        }
        default:
            return constant_integer(&expr);
    }
}

std::optional<std::size_t> KindWalk::place(const Expr& index, std::size_t count,
                                           const KindsHere& here) const {
    const auto given = integer(index, here);
    const auto size = static_cast<std::int64_t>(count);
    if (!given || *given < -size || *given >= size) return std::nullopt;
    return static_cast<std::size_t>(*given < 0 ? *given + size : *given);
}

std::optional<std::vector<std::size_t>> KindWalk::sliced_places(const Expr& slice,
                                                                std::size_t count,
                                                                const KindsHere& here) const {
    std::optional<std::int64_t> given[3];
    std::size_t next = 0;
    for (const int bound : {kSliceBegin, kSliceEnd, kSliceStep}) {
        if ((slice.index & bound) == 0) continue;
        const auto value = integer(*slice.operands[next++], here);
        if (!value) return std::nullopt;
        given[bound == kSliceBegin ? 0 : bound == kSliceEnd ? 1 : 2] = value;
    }
    const std::int64_t step = given[2].value_or(1), size = static_cast<std::int64_t>(count);
    if (step == 0) return std::nullopt;
    const auto clamped = [&](std::int64_t bound) {
        if (bound < 0) bound += size;
        return step > 0 ? std::clamp(bound, std::int64_t{0}, size)
                        : std::clamp(bound, std::int64_t{-1}, size - 1);
    };
    const std::int64_t begin = given[0] ? clamped(*given[0]) : step > 0 ? 0 : size - 1;
    const std::int64_t end = given[1] ? clamped(*given[1]) : step > 0 ? size : -1;
    std::vector<std::size_t> places;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step)
        places.push_back(static_cast<std::size_t>(i));
    return places;
}

std::optional<bool> KindWalk::truth(const Expr& expr, const KindsHere& here) const {
    switch (expr.op) {
        case Op::kConst:
            if (const auto* value = std::get_if<bool>(&expr.constant.value)) return *value;
            return std::nullopt;
        case Op::kSame: {
            const Kind a = of(*expr.operands[0], here), b = of(*expr.operands[1], here);
            if (a.is_none() && b.is_none()) return true;
            const bool one = a.is_none() != b.is_none();
            const Kind& other = a.is_none() ? b : a;
            if (one &&
                (other.is_number() || other.is_tuple() || other.is_record() || other.is_single()))
                return false;
            return equal_singles(a, b);
        }
        case Op::kEq:
        case Op::kNe: {
            auto same = equal_singles(of(*expr.operands[0], here), of(*expr.operands[1], here));
            const auto a = integer(*expr.operands[0], here), b = integer(*expr.operands[1], here);
            if (a && b) same = *a == *b;
            return same ? std::optional(*same == (expr.op == Op::kEq)) : std::nullopt;
        }
        case Op::kLt:
        case Op::kLe:
        case Op::kGt:
        case Op::kGe: {
            const auto a = integer(*expr.operands[0], here), b = integer(*expr.operands[1], here);
            if (!a || !b) return std::nullopt;
            const bool less = expr.op == Op::kLt || expr.op == Op::kLe;
            const bool or_equal = expr.op == Op::kLe || expr.op == Op::kGe;
            return *a == *b ? or_equal : (*a < *b) == less;
        }
        case Op::kTypesEqual: {
            const Kind a = of(*expr.operands[0], here), b = of(*expr.operands[1], here);
            if (!a.scalar || !b.scalar) return std::nullopt;
            return a.scalar == b.scalar;
        }
        case Op::kIn: {
            const Kind a = of(*expr.operands[0], here), b = of(*expr.operands[1], here);
            if (!b.is_tuple() || (!a.is_single() && !has_single(b))) return std::nullopt;
            bool all_known = true;
            for (const Kind& part : b.parts) {
                const auto same = equal_singles(a, part);
                if (same == true) return true;
                all_known = all_known && same.has_value();
            }
            return all_known ? std::optional(false) : std::nullopt;
        }
        case Op::kNot:
        case Op::kPyBool: {
            const auto known = truth(*expr.operands[0], here);
            return known ? std::optional(expr.op == Op::kNot ? !*known : *known) : std::nullopt;
        }
        case Op::kAnd:
        case Op::kOr: {
            const bool settles = expr.op == Op::kOr;
            const auto a = truth(*expr.operands[0], here);
            if (a == settles) return settles;
            const auto b = truth(*expr.operands[1], here);
            if (a && b) return *b;
            return std::nullopt;
        }
        case Op::kHas:
            return has_attribute(of(*expr.operands[0], here), *expr.operands[1]->text);
        case Op::kVar:
        case Op::kText:
        case Op::kItem:
        case Op::kField:
        case Op::kLoad: {
            const Kind kind = of(expr, here);
            if (kind.is_none()) return false;
            if (kind.is_tuple() && !has_method(kind, "__bool__")) return !kind.parts.empty();
            return kind.is_single()
                       ? std::optional(kind.form != Kind::Form::kText || kind.text != "")
                       : std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

void KindWalk::assume(const Expr& condition, bool holds, KindsHere& here) const {
    switch (condition.op) {
        case Op::kNot:
        case Op::kPyBool:
            assume(*condition.operands[0], holds == (condition.op == Op::kPyBool), here);
            break;
        case Op::kAnd:
        case Op::kOr:
            if (holds != (condition.op == Op::kAnd)) break;
            for (const Expr* operand : condition.operands)
                assume(*operand, holds, here);
            break;
        case Op::kVar:
            if (const Kind kind = kind_of(*condition.var, here); holds && kind.is_optional())
                here.of[condition.var] = kind.parts[0];
            break;
        case Op::kSame: {
            const Expr *name = condition.operands[0], *other = condition.operands[1];
            if (name->op != Op::kVar) std::swap(name, other);
            if (name->op != Op::kVar || !of(*other, here).is_none()) break;
            const Kind kind = kind_of(*name->var, here);
            if (kind.is_optional()) here.of[name->var] = holds ? Kind::none() : kind.parts[0];
            break;
        }
        default:
            break;
    }
}

}  // namespace parpy
