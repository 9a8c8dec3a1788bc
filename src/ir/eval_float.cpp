// Operators on floats and complex numbers. f16 and bf16 compute in f32; functions without an exact
// IEEE result (exp, sin, pow, …) are computed in f64 and rounded once, the best a reference can be.
#include "ir/eval_float.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
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
        return half ? x : y;  // one of two zeros, NumPy's choice
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
std::optional<Constant> comparison(Op op, T a, T b) {
    switch (op) {
        case Op::kEq:
            return Constant{a == b};
        case Op::kNe:
            return Constant{a != b};
        case Op::kLt:
            return Constant{a < b};
        case Op::kLe:
            return Constant{a <= b};
        case Op::kGt:
            return Constant{a > b};
        case Op::kGe:
            return Constant{a >= b};
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
            return flag;
        }
        if (op == Op::kNextafter) {
            return Constant{next_after(type, operand(0), operand(1))};
        }
        if (op == Op::kComplex) {
            return Constant{std::complex<double>(operands[0], operands[1])};
        }
        if (type == Scalar::kF16 && op >= Op::kMinimum && op <= Op::kFmax &&
            operands[0] == operands[1]) {
            return Constant{operands[0]};  // of -0.0 and 0.0 NumPy takes the first in f16 alone
        }
        if (const auto value = binary(op, operand(0), operand(1))) {
            return rounded(type, static_cast<double>(*value));
        }
        const auto value = elementary(op, operands[0], operands[1]);
        return value ? std::optional(rounded(type, *value)) : std::nullopt;
    }
    if (op == Op::kFma && operands.size() == 3) {
        // In f32 itself for f32; the products of the narrow floats are exact in f64.
        const bool narrow = type == Scalar::kF16 || type == Scalar::kBF16;
        return rounded(type,
                       narrow ? std::fma(operands[0], operands[1], operands[2])
                              : static_cast<double>(std::fma(operand(0), operand(1), operand(2))));
    }
    return std::nullopt;
}

// ---------------------------------------------------------------- complex numbers

template <class T>
std::complex<T> multiply(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's algorithm, as NumPy does it.
template <class T>
std::complex<T> divide(std::complex<T> a, std::complex<T> b) {
    if (std::fabs(b.real()) >= std::fabs(b.imag())) {
        if (b.real() == 0 && b.imag() == 0) {
            return {a.real() / std::fabs(b.real()), a.imag() / std::fabs(b.real())};
        }
        const T ratio = b.imag() / b.real();
        const T scale = 1 / (b.real() + b.imag() * ratio);
        return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    const T ratio = b.real() / b.imag();
    const T scale = 1 / (b.imag() + b.real() * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

// By its own formula in NumPy, too: of 0 it is NaN.
template <class T>
std::complex<T> reciprocal(std::complex<T> a) {
    if (std::fabs(a.imag()) <= std::fabs(a.real())) {
        const T ratio = a.imag() / a.real();
        const T size = a.real() + a.imag() * ratio;
        return {1 / size, -ratio / size};
    }
    const T ratio = a.real() / a.imag();
    const T size = a.real() * ratio + a.imag();
    return {ratio / size, -1 / size};
}

// Whole exponents below 100 by multiplication, as NumPy does it.
template <class T>
std::complex<T> power(std::complex<T> a, std::complex<T> b) {
    if (b == std::complex<T>()) {
        return {1, 0};
    }
    if (a == std::complex<T>()) {
        constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
        return b.real() > 0 ? std::complex<T>() : std::complex<T>(kNan, kNan);
    }
    if (b.imag() == 0 && std::fabs(b.real()) < 100 && std::trunc(b.real()) == b.real()) {
        const int exponent = static_cast<int>(b.real());
        if (exponent > 0 && exponent < 4) {
            const std::complex<T> square = exponent == 1 ? a : multiply(a, a);
            return exponent == 3 ? multiply(a, square) : square;
        }
        std::complex<T> result = {1, 0};
        for (int left = std::abs(exponent);; a = multiply(a, a)) {
            if ((left & 1) != 0) {
                result = multiply(result, a);
            }
            left >>= 1;
            if (left == 0) {
                return exponent < 0 ? divide(std::complex<T>(1, 0), result) : result;
            }
        }
    }
    return std::pow(a, b);
}

// NumPy orders complex numbers by real part, then by imaginary part.
template <class T>
bool less(std::complex<T> a, std::complex<T> b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
template <class T>
bool is_nan(std::complex<T> a) {
    return std::isnan(a.real()) || std::isnan(a.imag());
}

template <class T>
std::optional<std::complex<T>> unary(Op op, std::complex<T> a) {
    constexpr T kLn2 = std::numbers::ln2_v<T>;
    const T x = a.real();
    const T y = a.imag();
    switch (op) {
        case Op::kNeg:
            return -a;
        case Op::kPos:
            return a;
        case Op::kConj:
            return std::conj(a);
        case Op::kSquare:
            return multiply(a, a);
        case Op::kReciprocal:
            return reciprocal(a);
        case Op::kSign:
            if (is_nan(a) || a == std::complex<T>()) {
                return a;
            }
            return std::complex<T>(x / std::hypot(x, y), y / std::hypot(x, y));
        case Op::kRint:
            return std::complex<T>(std::nearbyint(x), std::nearbyint(y));
        case Op::kSqrt:
            return std::sqrt(a);
        case Op::kExp:
            return std::exp(a);
        case Op::kExp2:
            return std::exp(a * kLn2);
        case Op::kExpm1: {
            const T half = std::sin(y / 2);
            return std::complex<T>(std::expm1(x) * std::cos(y) - 2 * half * half,
                                   std::exp(x) * std::sin(y));
        }
        case Op::kLog:
            return std::log(a);
        case Op::kLog2:
            return std::log(a) / kLn2;
        case Op::kLog10:
            return std::log10(a);
        case Op::kLog1p:
            return std::complex<T>(std::log(std::hypot(x + 1, y)), std::atan2(y, x + 1));
        case Op::kSin:
            return std::sin(a);
        case Op::kCos:
            return std::cos(a);
        case Op::kTan:
            return std::tan(a);
        case Op::kAsin:
            return std::asin(a);
        case Op::kAcos:
            return std::acos(a);
        case Op::kAtan:
            return std::atan(a);
        case Op::kSinh:
            return std::sinh(a);
        case Op::kCosh:
            return std::cosh(a);
        case Op::kTanh:
            return std::tanh(a);
        case Op::kAsinh:
            return std::asinh(a);
        case Op::kAcosh:
            return std::acosh(a);
        case Op::kAtanh:
            return std::atanh(a);
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<std::complex<T>> binary(Op op, std::complex<T> a, std::complex<T> b) {
    switch (op) {
        case Op::kAdd:
            return a + b;
        case Op::kSub:
            return a - b;
        case Op::kMul:
            return multiply(a, b);
        case Op::kDiv:
            return divide(a, b);
        case Op::kPow:
            return power(a, b);
        case Op::kMin:
            return less(b, a) ? b : a;
        case Op::kMax:
            return less(a, b) ? b : a;
        case Op::kMinimum:
            return is_nan(a) || (!is_nan(b) && !less(b, a)) ? a : b;
        case Op::kMaximum:
            return is_nan(a) || (!is_nan(b) && !less(a, b)) ? a : b;
        case Op::kFmin:
            return is_nan(b) || (!is_nan(a) && !less(b, a)) ? a : b;
        case Op::kFmax:
            return is_nan(b) || (!is_nan(a) && !less(a, b)) ? a : b;
        default:
            return std::nullopt;
    }
}

// What gives a bool or a real number.
template <class T>
std::optional<Constant> leave(Op op, std::complex<T> a) {
    const auto real = [](T value) { return Constant{static_cast<double>(value)}; };
    switch (op) {
        case Op::kReal:
            return real(a.real());
        case Op::kImag:
            return real(a.imag());
        case Op::kAbs:
            return real(std::hypot(a.real(), a.imag()));
        case Op::kIsnan:
            return Constant{is_nan(a)};
        case Op::kIsinf:
            return Constant{std::isinf(a.real()) || std::isinf(a.imag())};
        case Op::kIsfinite:
            return Constant{std::isfinite(a.real()) && std::isfinite(a.imag())};
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<Constant> compare(Op op, std::complex<T> a, std::complex<T> b) {
    switch (op) {
        case Op::kEq:
            return Constant{a == b};
        case Op::kNe:
            return Constant{a != b};
        case Op::kLt:
            return Constant{less(a, b)};
        case Op::kLe:
            return Constant{a == b || less(a, b)};
        case Op::kGt:
            return Constant{less(b, a)};
        case Op::kGe:
            return Constant{a == b || less(b, a)};
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<Constant> evaluate_complex_as(Op op, std::span<const std::complex<double>> operands) {
    std::array<std::complex<T>, 2> z;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, operands.size()); ++i) {
        z[i] = {static_cast<T>(operands[i].real()), static_cast<T>(operands[i].imag())};
    }
    std::optional<std::complex<T>> value;
    if (operands.size() == 1) {
        if (const auto other = leave(op, z[0])) {
            return other;
        }
        value = unary(op, z[0]);
    } else if (operands.size() == 2) {
        if (const auto flag = compare(op, z[0], z[1])) {
            return flag;
        }
        value = binary(op, z[0], z[1]);
    }
    if (!value) {
        return std::nullopt;
    }
    return Constant{std::complex<double>(static_cast<double>(value->real()),
                                         static_cast<double>(value->imag()))};
}

}  // namespace

std::optional<Constant> evaluate_float(Op op, Scalar type, std::span<const double> operands) {
    return type == Scalar::kF64 ? evaluate_as<double>(op, type, operands)
                                : evaluate_as<float>(op, type, operands);
}

std::optional<Constant> evaluate_complex(Op op, Scalar type,
                                         std::span<const std::complex<double>> operands) {
    return type == Scalar::kC64 ? evaluate_complex_as<float>(op, operands)
                                : evaluate_complex_as<double>(op, operands);
}

}  // namespace parpy::ir
