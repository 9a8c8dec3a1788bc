// Operators on complex numbers. Elementary functions are computed in c128 and rounded once.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "ir/eval/float.h"

namespace parpy::ir {
namespace {

// ---------------------------------------------------------------- elementary functions

// The C library's functions; where C leaves special values open, the results are Python's cmath's.
using Complex = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// i z, and its inverse: a function of i z gives, turned back, the function of z.
Complex turned(Complex z) {
    return {-z.imag(), z.real()};
}
Complex turned_back(Complex z) {
    return {z.imag(), -z.real()};
}

Complex exponential(Complex z) {
    const bool nothing = z.real() == -kInfinity && !std::isfinite(z.imag());
    return nothing ? Complex() : std::exp(z);
}

Complex root(Complex z) {
    const bool left = z.real() == -kInfinity && std::isnan(z.imag());
    return left ? Complex(kNan, kInfinity) : std::sqrt(z);
}

Complex sinh_of(Complex z) {
    if (std::isnan(z.imag())) {
        return {z.real() == 0 ? 0.0 : std::isinf(z.real()) ? kInfinity : kNan, kNan};
    }
    return std::sinh(z);
}

Complex cosh_of(Complex z) {
    const bool on_an_axis =
        (std::isnan(z.real()) && z.imag() == 0) || (z.real() == 0 && !std::isfinite(z.imag()));
    return on_an_axis ? Complex(kNan, 0) : std::cosh(z);
}

Complex tanh_of(Complex z) {
    if (std::isinf(z.real()) && !std::isfinite(z.imag())) {
        return {std::copysign(1.0, z.real()), 0};
    }
    return z.real() == 0 && std::isnan(z.imag()) ? Complex(kNan, kNan) : std::tanh(z);
}

Complex asinh_of(Complex z) {
    const bool open = std::isnan(z.real()) && std::isinf(z.imag());
    return open ? Complex(kInfinity, kNan) : std::asinh(z);
}

Complex acos_of(Complex z) {
    const bool open = std::isinf(z.real()) && std::isnan(z.imag());
    return open ? Complex(kNan, kInfinity) : std::acos(z);
}

Complex acosh_of(Complex z) {
    const bool open = z.real() == 0 && std::isnan(z.imag());
    return open ? Complex(kNan, kNan) : std::acosh(z);
}

Complex atanh_of(Complex z) {
    const bool open = std::isnan(z.real()) && std::isinf(z.imag());
    return open ? Complex(0, std::copysign(std::numbers::pi / 2, z.imag())) : std::atanh(z);
}

std::optional<Complex> elementary(Op op, Complex z) {
    const double x = z.real();
    const double y = z.imag();
    switch (op) {
        case Op::kSqrt:
            return root(z);
        case Op::kExp:
            return exponential(z);
        case Op::kExp2:
            return exponential(z * std::numbers::ln2);
        case Op::kExpm1: {
            const double half = std::sin(y / 2);
            return Complex(std::expm1(x) * std::cos(y) - 2 * half * half,
                           std::exp(x) * std::sin(y));
        }
        case Op::kLog:
            return std::log(z);
        case Op::kLog2:
            return std::log(z) / std::numbers::ln2;
        case Op::kLog10:
            return std::log10(z);
        case Op::kLog1p:
            return Complex(std::log(std::hypot(x + 1, y)), std::atan2(y, x + 1));
        case Op::kSinh:
            return sinh_of(z);
        case Op::kCosh:
            return cosh_of(z);
        case Op::kTanh:
            return tanh_of(z);
        case Op::kSin:
            return turned_back(sinh_of(turned(z)));
        case Op::kCos:
            return cosh_of(turned(z));
        case Op::kTan:
            return turned_back(tanh_of(turned(z)));
        case Op::kAsinh:
            return asinh_of(z);
        case Op::kAcosh:
            return acosh_of(z);
        case Op::kAtanh:
            return atanh_of(z);
        case Op::kAsin:
            return turned_back(asinh_of(turned(z)));
        case Op::kAcos:
            return acos_of(z);
        case Op::kAtan:
            return turned_back(atanh_of(turned(z)));
        default:
            return std::nullopt;
    }
}

// ---------------------------------------------------------------- arithmetic

template <class T>
std::complex<T> multiply(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's algorithm, as in NumPy.
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

// NumPy has a formula of its own for this as well: the reciprocal of 0 is NaN.
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

// Whole exponents below 100 are computed by multiplication, as in NumPy.
template <class T>
std::complex<T> power(std::complex<T> a, std::complex<T> b) {
    if (b == std::complex<T>()) {
        return {1, 0};
    }
    if (a == std::complex<T>()) {
        constexpr T kNone = std::numeric_limits<T>::quiet_NaN();
        return b.real() > 0 ? std::complex<T>() : std::complex<T>(kNone, kNone);
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

// NumPy's np.sign: z / |z|, and NaN where the angle is not known.
template <class T>
std::complex<T> sign_of(std::complex<T> a) {
    const T x = a.real();
    const T y = a.imag();
    const T size = std::hypot(x, y);
    if (std::isnan(size) || (std::isinf(x) && std::isinf(y))) {
        const T none = std::numeric_limits<T>::quiet_NaN();
        return {none, none};
    }
    if (std::isinf(x)) {
        return {std::copysign(T(1), x), T(0)};
    }
    if (std::isinf(y)) {
        return {T(0), std::copysign(T(1), y)};
    }
    return size == 0 ? std::complex<T>() : std::complex<T>{x / size, y / size};
}

template <class T>
std::optional<std::complex<T>> unary(Op op, std::complex<T> a) {
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
            return sign_of(a);
        case Op::kRint:
            return std::complex<T>(std::nearbyint(x), std::nearbyint(y));
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

// The operators whose result is a bool or a real number.
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
        if (const auto wide = value ? std::nullopt : elementary(op, operands[0])) {
            value = {static_cast<T>(wide->real()), static_cast<T>(wide->imag())};
        }
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

std::optional<Constant> evaluate_complex(Op op, Scalar type,
                                         std::span<const std::complex<double>> operands) {
    return type == Scalar::kC64 ? evaluate_complex_as<float>(op, operands)
                                : evaluate_complex_as<double>(op, operands);
}

}  // namespace parpy::ir
