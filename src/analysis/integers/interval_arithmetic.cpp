// See interval_arithmetic.h.
#include "analysis/integers/interval_arithmetic.h"

#include <algorithm>
#include <array>

namespace parpy {

using namespace ir;

Interval fit(Wide low, Wide high, Scalar scalar) {
    const Interval type = Interval::of_type(scalar);
    if (low < type.low || high > type.high) {
        return type;
    }
    return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

namespace {

template <class F>
Interval corners(const Interval& a, const Interval& b, Scalar scalar, F&& f) {
    const std::array<Wide, 4> values = {f(Wide{a.low}, Wide{b.low}), f(Wide{a.low}, Wide{b.high}),
                                        f(Wide{a.high}, Wide{b.low}),
                                        f(Wide{a.high}, Wide{b.high})};
    return fit(std::ranges::min(values), std::ranges::max(values), scalar);
}

Wide floor_divide(Wide a, Wide b) {
    const Wide quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Interval modulo(const Interval& a, const Interval& b, Scalar scalar) {
    if (b.low <= 0) {
        return Interval::of_type(scalar);
    }
    if (a.low >= 0 && a.high < b.low) {
        return a;
    }
    return {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
}

// a & b lies between zero and the smallest non-negative operand.
Interval bit_and(const Interval& a, const Interval& b, Scalar scalar) {
    if (a.low < 0 && b.low < 0) {
        return Interval::of_type(scalar);
    }
    if (a.low < 0 || b.low < 0) {
        return {0, a.low < 0 ? b.high : a.high};
    }
    return {0, std::min(a.high, b.high)};
}

// The smallest 2^k - 1 that covers `value`.
std::int64_t ones_above(std::int64_t value) {
    std::int64_t ones = 0;
    while (ones < value) {
        ones = 2 * ones + 1;
    }
    return ones;
}

}  // namespace

Interval magnitude(const Interval& a, Scalar scalar) {
    if (a.low >= 0) {
        return a;
    }
    return fit(a.high < 0 ? -Wide{a.high} : Wide{0}, std::max(-Wide{a.low}, Wide{a.high}), scalar);
}

Interval arithmetic(Op op, const Interval& a, const Interval& b, Scalar scalar) {
    switch (op) {
        case Op::kAdd:
            return fit(Wide{a.low} + b.low, Wide{a.high} + b.high, scalar);
        case Op::kSub:
            return fit(Wide{a.low} - b.high, Wide{a.high} - b.low, scalar);
        case Op::kMul:
            return corners(a, b, scalar, [](Wide x, Wide y) { return x * y; });
        case Op::kFloorDiv:
        case Op::kQuotient:
            return b.low > 0 ? corners(a, b, scalar, floor_divide) : Interval::of_type(scalar);
        case Op::kMod:
        case Op::kRemainder:
            return modulo(a, b, scalar);
        case Op::kMin:
        case Op::kMinimum:
        case Op::kFmin:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case Op::kMax:
        case Op::kMaximum:
        case Op::kFmax:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case Op::kIndex:
            if (a.low >= 0) {
                return a;
            }
            return hull(
                fit(Wide{a.low} + b.low, Wide{std::min<std::int64_t>(a.high, -1)} + b.high, scalar),
                a.high < 0 ? kEmptyInterval : Interval{0, a.high});
        case Op::kBitAnd:
            return bit_and(a, b, scalar);
        case Op::kBitOr:
        case Op::kBitXor:
            return a.low >= 0 && b.low >= 0 ? Interval{0, ones_above(std::max(a.high, b.high))}
                                            : Interval::of_type(scalar);
        case Op::kShr:
            return b.low >= 0 && b.high < 8 * size_in_bytes(scalar)
                       ? corners(
                             a, b, scalar, [](Wide x, Wide y) { return x >> y; })
                       : Interval::of_type(scalar);
        case Op::kShl:
            return b.low >= 0 && b.high < 8 * size_in_bytes(scalar)
                       ? corners(
                             a, b, scalar, [](Wide x, Wide y) { return x * (Wide{1} << y); })
                       : Interval::of_type(scalar);
        default:
            return Interval::of_type(scalar);
    }
}

Op negation(Op comparison) {
    switch (comparison) {
        case Op::kEq:
            return Op::kNe;
        case Op::kNe:
            return Op::kEq;
        case Op::kLt:
            return Op::kGe;
        case Op::kLe:
            return Op::kGt;
        case Op::kGt:
            return Op::kLe;
        default:
            return Op::kLt;
    }
}

Op mirrored(Op comparison) {
    switch (comparison) {
        case Op::kLt:
            return Op::kGt;
        case Op::kLe:
            return Op::kGe;
        case Op::kGt:
            return Op::kLt;
        case Op::kGe:
            return Op::kLe;
        default:
            return comparison;
    }
}

Interval restricted(const Interval& x, Op op, const Interval& y) {
    switch (op) {
        case Op::kLt:
            return y.high == Interval::all().low
                       ? kEmptyInterval
                       : intersection(x, {Interval::all().low, y.high - 1});
        case Op::kLe:
            return intersection(x, {Interval::all().low, y.high});
        case Op::kGt:
            return y.low == Interval::all().high
                       ? kEmptyInterval
                       : intersection(x, {y.low + 1, Interval::all().high});
        case Op::kGe:
            return intersection(x, {y.low, Interval::all().high});
        case Op::kEq:
            return intersection(x, y);
        case Op::kNe: {
            if (y.low != y.high) {
                return x;
            }
            Interval rest = x;
            rest.low += rest.low == y.low ? 1 : 0;
            rest.high -= rest.high == y.low && !rest.empty() ? 1 : 0;
            return rest;
        }
        default:
            return x;
    }
}

Interval Interval::of_type(Scalar scalar) {
    if (scalar == Scalar::kBool) {
        return {0, 1};
    }
    if (!is_integer(scalar) || scalar == Scalar::kU64) {
        return all();
    }
    const int bits = 8 * size_in_bytes(scalar);
    if (is_unsigned_integer(scalar)) {
        return {0, (std::int64_t{1} << bits) - 1};
    }
    return {all().low >> (64 - bits), all().high >> (64 - bits)};
}

Interval hull(const Interval& a, const Interval& b) {
    if (a.empty() || b.empty()) {
        return a.empty() ? b : a;
    }
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval intersection(const Interval& a, const Interval& b) {
    return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

}  // namespace parpy
