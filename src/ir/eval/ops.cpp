// evaluate_op: the operators that are the same for all types, and those on integers and bools.
// Floats and complex numbers are in float.cpp, conversions in convert.cpp.
#include "ir/eval/ops.h"

#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>

#include "ir/eval/float.h"
#include "ir/ops.h"

namespace parpy::ir {
namespace {

// ---------------------------------------------------------------- integers

// Unsigned arithmetic of 64 bits: wraps, and its low bits are those of any narrower type.
template <class T>
std::uint64_t wide(T value) {
    return static_cast<std::uint64_t>(value);
}
template <class T>
T narrow(std::uint64_t value) {
    return static_cast<T>(value);
}

template <class T>
constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;

template <class T>
T negate(T a) {
    return narrow<T>(0 - wide(a));
}

template <class T>
bool is_minus_one(T value) {
    if constexpr (std::is_signed_v<T>) {
        return value == T{-1};
    } else {
        return false;
    }
}

template <class T>
bool is_negative(T value) {
    if constexpr (std::is_signed_v<T>) {
        return value < 0;
    } else {
        return false;
    }
}

// The remainder of division rounded towards zero; 0 where the division would trap.
template <class T>
T truncated_remainder(T a, T b) {
    return b == 0 || is_minus_one(b) ? T{0} : static_cast<T>(a % b);
}

template <class T>
T floor_divide(T a, T b) {
    if (b == 0) {
        return 0;
    }
    if (is_minus_one(b)) {
        return negate(a);
    }
    const bool inexact_and_negative = a % b != 0 && is_negative(a) != is_negative(b);
    return static_cast<T>(a / b - (inexact_and_negative ? 1 : 0));
}

template <class T>
T floor_modulo(T a, T b) {
    const T remainder = truncated_remainder(a, b);
    const bool adjust = remainder != 0 && is_negative(remainder) != is_negative(b);
    return adjust ? static_cast<T>(remainder + b) : remainder;
}

template <class T>
T power(T base, T exponent) {
    if (is_negative(exponent)) {
        if (base == 1) {
            return 1;
        }
        return is_minus_one(base) ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T{0};
    }
    std::uint64_t result = 1;
    std::uint64_t square = wide(base);
    for (std::uint64_t rest = wide(exponent); rest != 0; rest >>= 1U) {
        if ((rest & 1U) != 0) {
            result *= square;
        }
        square *= square;
    }
    return narrow<T>(result);
}

template <class T>
bool is_valid_shift(T amount, int width) {
    return !is_negative(amount) && wide(amount) < static_cast<std::uint64_t>(width);
}

template <class T>
std::make_unsigned_t<T> magnitude(T a) {
    return static_cast<std::make_unsigned_t<T>>(is_negative(a) ? negate(a) : a);
}

template <class T>
T greatest_common_divisor(T a, T b) {
    return static_cast<T>(std::gcd(magnitude(a), magnitude(b)));
}

template <class T>
T least_common_multiple(T a, T b) {
    const auto divisor = std::gcd(magnitude(a), magnitude(b));
    return divisor == 0 ? T{0} : narrow<T>(wide(magnitude(a)) / wide(divisor) * wide(magnitude(b)));
}

template <class T>
std::optional<T> unary(Op op, T a) {
    switch (op) {
        case Op::kNeg:
            return negate(a);
        case Op::kPos:
        case Op::kFloor:
        case Op::kCeil:
        case Op::kTrunc:
        case Op::kRint:
        case Op::kReal:
        case Op::kConj:
            return a;
        case Op::kImag:
            return T{0};
        case Op::kAbs:
            return is_negative(a) ? negate(a) : a;
        case Op::kInvert:
            return narrow<T>(~wide(a));
        case Op::kSign:
            return a == 0 ? T{0} : is_negative(a) ? negate(T{1}) : T{1};
        case Op::kSquare:
            return narrow<T>(wide(a) * wide(a));
        case Op::kReciprocal:
            // 1 / 0 is infinite, and converts to an integer as infinity does.
            if (a == 0 && std::is_signed_v<T> && sizeof(T) >= 4)
                return std::numeric_limits<T>::min();
            return a == 1 || is_minus_one(a) ? a : T{0};
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<T> binary(Op op, T a, T b, int width) {
    switch (op) {
        case Op::kAdd:
            return narrow<T>(wide(a) + wide(b));
        case Op::kSub:
            return narrow<T>(wide(a) - wide(b));
        case Op::kMul:
            return narrow<T>(wide(a) * wide(b));
        case Op::kFloorDiv:
        case Op::kQuotient:
            return floor_divide(a, b);
        case Op::kMod:
        case Op::kRemainder:
            return floor_modulo(a, b);
        case Op::kFmod:
            return truncated_remainder(a, b);
        case Op::kPow:
            return power(a, b);
        case Op::kShl:
            return is_valid_shift(b, width) ? narrow<T>(wide(a) << wide(b)) : T{0};
        case Op::kShr:
            if (is_valid_shift(b, width)) {
                return static_cast<T>(a >> b);
            }
            return is_negative(a) ? negate(T{1}) : T{0};
        case Op::kBitAnd:
            return static_cast<T>(a & b);
        case Op::kBitOr:
            return static_cast<T>(a | b);
        case Op::kBitXor:
            return static_cast<T>(a ^ b);
        case Op::kMin:
        case Op::kMinimum:
        case Op::kFmin:
            return b < a ? b : a;
        case Op::kMax:
        case Op::kMaximum:
        case Op::kFmax:
            return b > a ? b : a;
        case Op::kGcd:
            return greatest_common_divisor(a, b);
        case Op::kLcm:
            return least_common_multiple(a, b);
        case Op::kIndex:
            return is_negative(a) ? narrow<T>(wide(a) + wide(b)) : a;
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<bool> predicate(Op op, T a) {
    switch (op) {
        case Op::kIsnan:
        case Op::kIsinf:
            return false;
        case Op::kIsfinite:
            return true;
        case Op::kSignbit:
            return is_negative(a);
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<Constant> evaluate_integer(Op op, std::span<const std::int64_t> operands, int width) {
    const auto operand = [&](std::size_t i) { return static_cast<T>(operands[i]); };
    const auto constant = [](T value) { return Constant{static_cast<std::int64_t>(value)}; };
    if (operands.size() == 1) {
        if (const auto flag = predicate(op, operand(0))) {
            return Constant{*flag};
        }
        const auto value = unary(op, operand(0));
        return value ? std::optional(constant(*value)) : std::nullopt;
    }
    if (operands.size() == 2) {
        if (const auto flag = comparison(op, operand(0), operand(1))) {
            return Constant{*flag};
        }
        const auto value = binary(op, operand(0), operand(1), width);
        return value ? std::optional(constant(*value)) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<Constant> dispatch_integer(Op op, Scalar type,
                                         std::span<const std::int64_t> operands) {
    switch (type) {
        case Scalar::kI8:
            return evaluate_integer<std::int8_t>(op, operands, 8);
        case Scalar::kI16:
            return evaluate_integer<std::int16_t>(op, operands, 16);
        case Scalar::kI32:
            return evaluate_integer<std::int32_t>(op, operands, 32);
        case Scalar::kI64:
            return evaluate_integer<std::int64_t>(op, operands, 64);
        case Scalar::kU8:
            return evaluate_integer<std::uint8_t>(op, operands, 8);
        case Scalar::kU16:
            return evaluate_integer<std::uint16_t>(op, operands, 16);
        case Scalar::kU32:
            return evaluate_integer<std::uint32_t>(op, operands, 32);
        case Scalar::kU64:
            return evaluate_integer<std::uint64_t>(op, operands, 64);
        default:
            return std::nullopt;
    }
}

// A bool is an integer of one bit that saturates: any value but 0 is true.
std::optional<Constant> evaluate_bool(Op op, std::span<const std::int64_t> operands) {
    if (op == Op::kInvert) {
        return Constant{operands[0] == 0};
    }
    const auto value = evaluate_integer<std::uint8_t>(op, operands, 1);
    return value ? std::optional(convert_constant(*value, Scalar::kU8, Scalar::kBool))
                 : std::nullopt;
}

// ---------------------------------------------------------------- all types

// kPyInt … kNumpy, kConvert, logic and select.
std::optional<Constant> evaluate_common(Op op, Scalar operand, Scalar result,
                                        std::span<const Constant> operands) {
    const auto truth = [&](std::size_t i) {
        return std::get<bool>(convert_constant(operands[i], operand, Scalar::kBool).value);
    };
    switch (op) {
        case Op::kConvert:
            return convert_constant(operands[0], operand, result);
        case Op::kPyInt:
        case Op::kPyIndex:
            return convert_constant(operands[0], operand, Scalar::kI64);
        case Op::kPyFloat:
            return convert_constant(operands[0], operand, Scalar::kF64);
        case Op::kPyBool:
            return Constant{truth(0)};
        case Op::kBits:
            return Constant{std::bit_cast<std::int64_t>(std::get<double>(operands[0].value))};
        case Op::kNumpy:
        case Op::kOutput:
            return operands[0];
        case Op::kNot:
            return Constant{!truth(0)};
        case Op::kAnd:
            return Constant{truth(0) && truth(1)};
        case Op::kOr:
            return Constant{truth(0) || truth(1)};
        case Op::kSelect:
            return truth(0) ? operands[1] : operands[2];
        default:
            return std::nullopt;
    }
}

// The operands as values of one C++ type.
template <class V, std::size_t N>
std::span<const V> decoded(std::array<V, N>& storage, Scalar from, Scalar to,
                           std::span<const Constant> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        storage[i] = std::get<V>(convert_constant(operands[i], from, to).value);
    }
    return std::span(storage).first(operands.size());
}

}  // namespace

bool is_exact(Op op, Scalar operand) {
    if (is_complex(operand)) {
        return op == Op::kAdd || op == Op::kSub || op == Op::kNeg || op == Op::kConj ||
               op == Op::kReal || op == Op::kImag || op == Op::kEq || op == Op::kNe ||
               op == Op::kConvert;
    }
    if (!is_float(operand)) return true;
    const bool elementary = op >= Op::kCbrt && op <= Op::kLgamma;
    return !elementary && op != Op::kAtan2 && op != Op::kHypot && op != Op::kPow &&
           op != Op::kSimplePower && op != Op::kDegrees && op != Op::kRadians;
}

std::optional<Constant> evaluate_op(Op op, Scalar operand, Scalar result,
                                    std::span<const Constant> operands) {
    constexpr std::size_t kMaxOperands = 3;
    const int wanted = arity(op);
    if (operands.empty() || operands.size() > kMaxOperands ||
        (wanted >= 0 && operands.size() != static_cast<std::size_t>(wanted))) {
        return std::nullopt;
    }
    if (const auto value = evaluate_common(op, operand, result, operands)) {
        return value;
    }
    std::optional<Constant> value;
    if (operand == Scalar::kBool || is_integer(operand)) {
        std::array<std::int64_t, kMaxOperands> storage{};
        // Bools become 0 and 1; integers of every width are themselves as 64 bits.
        const Scalar stored = operand == Scalar::kBool ? Scalar::kI64 : operand;
        const auto values = decoded(storage, operand, stored, operands);
        value = operand == Scalar::kBool ? evaluate_bool(op, values)
                                         : dispatch_integer(op, operand, values);
    } else if (is_float(operand)) {
        std::array<double, kMaxOperands> storage{};
        value = evaluate_float(op, operand, decoded(storage, operand, operand, operands));
    } else {
        std::array<std::complex<double>, kMaxOperands> storage{};
        value = evaluate_complex(op, operand, decoded(storage, operand, operand, operands));
    }
    return value;
}

}  // namespace parpy::ir
