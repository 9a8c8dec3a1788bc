// Operators on floats; complex.cpp has those on complex numbers. f16 and bf16 compute in f32;
// functions without an exact IEEE result (exp, sin, pow, …) are computed in f64 and rounded once,
// the most accurate that a reference can be.
#include "ir/eval/float.h"

#include <cmath>
#include <numbers>

namespace parpy::ir {
namespace {

// ---------------------------------------------------------------- floor division

template <class T>
struct DivMod {
    T quotient, remainder;
};

// NumPy's npy_divmod, step for step.
template <class T>
DivMod<T> divmod(T a, T b) {
    T remainder = std::fmod(a, b);
    if (b == 0) {
        return {a / b, remainder};
    }
    T quotient = (a - remainder) / b;
    if (remainder != 0) {  // also where it is NaN
        if ((b < 0) != (remainder < 0)) {
            remainder += b;
            quotient -= 1;
        }
    } else {
        remainder = std::copysign(T{0}, b);
    }
    if (quotient != 0) {
        T whole = std::floor(quotient);
        if (quotient - whole > T{0.5}) {
            whole += 1;
        }
        return {whole, remainder};
    }
    return {std::copysign(T{0}, a / b), remainder};
}

// ---------------------------------------------------------------- elementary functions

std::optional<double> elementary(Op op, double x) {
    switch (op) {
        case Op::kSqrt:
            return std::sqrt(x);
        case Op::kCbrt:
            return std::cbrt(x);
        case Op::kExp:
            return std::exp(x);
        case Op::kExp2:
            return std::exp2(x);
        case Op::kExpm1:
            return std::expm1(x);
        case Op::kLog:
            return std::log(x);
        case Op::kLog2:
            return std::log2(x);
        case Op::kLog10:
            return std::log10(x);
        case Op::kLog1p:
            return std::log1p(x);
        case Op::kSin:
            return std::sin(x);
        case Op::kCos:
            return std::cos(x);
        case Op::kTan:
            return std::tan(x);
        case Op::kAsin:
            return std::asin(x);
        case Op::kAcos:
            return std::acos(x);
        case Op::kAtan:
            return std::atan(x);
        case Op::kSinh:
            return std::sinh(x);
        case Op::kCosh:
            return std::cosh(x);
        case Op::kTanh:
            return std::tanh(x);
        case Op::kAsinh:
            return std::asinh(x);
        case Op::kAcosh:
            return std::acosh(x);
        case Op::kAtanh:
            return std::atanh(x);
        case Op::kErf:
            return std::erf(x);
        case Op::kErfc:
            return std::erfc(x);
        case Op::kGamma:
            return std::tgamma(x);
        case Op::kLgamma: {
            int sign = 0;
            return ::lgamma_r(x, &sign);  // std::lgamma writes a global
        }
        case Op::kFloor:
            return std::floor(x);
        case Op::kCeil:
            return std::ceil(x);
        case Op::kTrunc:
            return std::trunc(x);
        case Op::kRint:
            return std::nearbyint(x);
        default:
            return std::nullopt;
    }
}

std::optional<double> elementary(Op op, double x, double y) {
    switch (op) {
        case Op::kPow:
        case Op::kSimplePower:
            return std::pow(x, y);
        case Op::kAtan2:
            return std::atan2(x, y);
        case Op::kHypot:
            return std::hypot(x, y);
        case Op::kFmod:
            return std::fmod(x, y);
        case Op::kCopysign:
            return std::copysign(x, y);
        default:
            return std::nullopt;
    }
}

// The neighbour of `x` in the direction of `y` among the values of a 16-bit format.
double next_narrow(double x, double y, bool half) {
    if (std::isnan(x) || std::isnan(y)) {
        return std::isnan(x) ? x : y;
    }
    if (x == y) {
        return half ? x : y;  // one of two zeros; NumPy's choice
    }
    const auto decode = [&](unsigned bits) {
        const auto narrow = static_cast<std::uint16_t>(bits);
        return half ? f16_value(narrow) : bf16_value(narrow);
    };
    const unsigned bits = half ? f16_bits(x) : bf16_bits(x);
    if (x == 0) {
        return std::copysign(decode(1), y);
    }
    return decode((y > x) == (x > 0) ? bits + 1 : bits - 1);
}

template <class T>
double next_after(Scalar type, T x, T y) {
    if (type == Scalar::kF16 || type == Scalar::kBF16) {
        return next_narrow(static_cast<double>(x), static_cast<double>(y), type == Scalar::kF16);
    }
    return static_cast<double>(std::nextafter(x, y));
}

// ---------------------------------------------------------------- real numbers

template <class T>
std::optional<Constant> predicate(Op op, T a) {
    switch (op) {
        case Op::kIsnan:
            return Constant{std::isnan(a)};
        case Op::kIsinf:
            return Constant{std::isinf(a)};
        case Op::kIsfinite:
            return Constant{std::isfinite(a)};
        case Op::kSignbit:
            return Constant{std::signbit(a)};
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<T> unary(Op op, T a) {
    constexpr T kDegree = std::numbers::pi_v<T> / 180;
    switch (op) {
        case Op::kNeg:
            return -a;
        case Op::kPos:
        case Op::kReal:
        case Op::kConj:
            return a;
        case Op::kImag:
            return T{0};
        case Op::kAbs:
            return std::fabs(a);
        case Op::kSign:
            return a > 0 ? T{1} : a < 0 ? T{-1} : a == 0 ? T{0} : a;
        case Op::kSquare:
            return a * a;
        case Op::kReciprocal:
            return 1 / a;
        case Op::kDegrees:
            return a * (180 / std::numbers::pi_v<T>);
        case Op::kRadians:
            return a * kDegree;
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<T> binary(Op op, T a, T b) {
    switch (op) {
        case Op::kAdd:
            return a + b;
        case Op::kSub:
            return a - b;
        case Op::kMul:
            return a * b;
        case Op::kDiv:
            return a / b;
        case Op::kFloorDiv:
            return divmod(a, b).quotient;
        case Op::kMod:
            return divmod(a, b).remainder;
        case Op::kMin:
            return b < a ? b : a;
        case Op::kMax:
            return b > a ? b : a;
        case Op::kMinimum:
            return a < b || std::isnan(a) ? a : b;
        case Op::kMaximum:
            return a > b || std::isnan(a) ? a : b;
        case Op::kFmin:
            return a < b || std::isnan(b) ? a : b;
        case Op::kFmax:
            return a > b || std::isnan(b) ? a : b;
        default:
            return std::nullopt;
    }
}

Constant rounded(Scalar type, double value) {
    return convert_constant(Constant{value}, Scalar::kF64, type);
}

// T is the type to compute in.
template <class T>
std::optional<Constant> evaluate_as(Op op, Scalar type, std::span<const double> operands) {
    const auto operand = [&](std::size_t i) { return static_cast<T>(operands[i]); };
    if (operands.size() == 1) {
        if (const auto flag = predicate(op, operand(0))) {
            return flag;
        }
        if (const auto value = unary(op, operand(0))) {
            return rounded(type, static_cast<double>(*value));
        }
        const auto value = elementary(op, operands[0]);
        return value ? std::optional(rounded(type, *value)) : std::nullopt;
    }
    if (operands.size() == 2) {
        if (const auto flag = comparison(op, operand(0), operand(1))) {
            return Constant{*flag};
        }
        if (op == Op::kNextafter) {
            return Constant{next_after(type, operand(0), operand(1))};
        }
        if (op == Op::kComplex) {
            return Constant{std::complex<double>(operands[0], operands[1])};
        }
        if (type == Scalar::kF16 && op >= Op::kMinimum && op <= Op::kFmax &&
            operands[0] == operands[1]) {
            return Constant{operands[0]};  // of two zeros, NumPy takes the first in f16 only
        }
        if (const auto value = binary(op, operand(0), operand(1))) {
            return rounded(type, static_cast<double>(*value));
        }
        const auto value = elementary(op, operands[0], operands[1]);
        return value ? std::optional(rounded(type, *value)) : std::nullopt;
    }
    if (op == Op::kFma && operands.size() == 3) {
        // f32 is computed in f32 itself; the products of the narrow floats are exact in f64.
        const bool narrow = type == Scalar::kF16 || type == Scalar::kBF16;
        return rounded(type,
                       narrow ? std::fma(operands[0], operands[1], operands[2])
                              : static_cast<double>(std::fma(operand(0), operand(1), operand(2))));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Constant> evaluate_float(Op op, Scalar type, std::span<const double> operands) {
    return type == Scalar::kF64 ? evaluate_as<double>(op, type, operands)
                                : evaluate_as<float>(op, type, operands);
}

}  // namespace parpy::ir
