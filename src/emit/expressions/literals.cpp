// Constants as C++ literals that read back as the same value.

#include <charconv>
#include <cmath>
#include <limits>

#include "emit/expressions/expressions.h"

namespace parpy {
namespace {

using ir::Scalar;

constexpr std::int64_t kI32Max = std::numeric_limits<std::int32_t>::max();

bool is_half(Scalar s) {
    return s == Scalar::kF16 || s == Scalar::kBF16;
}

std::string shortest(double value, bool single) {
    char buffer[40];
    const auto result =
        single ? std::to_chars(std::begin(buffer), std::end(buffer), static_cast<float>(value))
               : std::to_chars(std::begin(buffer), std::end(buffer), value);
    std::string text(std::begin(buffer), result.ptr);
    if (text.find_first_of(".e") == std::string::npos) {
        text += ".0";
    }
    return text;
}

bool fits_half(double value, Scalar half) {
    const int digits = half == Scalar::kF16 ? 11 : 8;
    int exponent = 0;
    const double scaled = std::ldexp(std::frexp(value, &exponent), digits);
    const int lowest = half == Scalar::kF16 ? -13 : -125;
    const int highest = half == Scalar::kF16 ? 16 : 128;
    return value == 0 ||
           (scaled == std::trunc(scaled) && exponent >= lowest && exponent <= highest);
}

}  // namespace

Text ExprPrinter::print_literal(const ir::Constant& constant, Scalar scalar) const {
    if (ir::is_complex(scalar)) {
        std::complex<double> z;
        if (const auto* value = std::get_if<std::complex<double>>(&constant.value)) {
            z = *value;
        } else if (const auto* real = std::get_if<double>(&constant.value)) {
            z = *real;
        }
        const Scalar part = scalar == Scalar::kC64 ? Scalar::kF32 : Scalar::kF64;
        return {std::string(type(scalar)) + "{" + print_literal({z.real()}, part).text + ", " +
                    print_literal({z.imag()}, part).text + "}",
                Precedence::kPostfix, scalar};
    }
    if (ir::is_float(scalar)) {
        double value = 0;
        if (const auto* real = std::get_if<double>(&constant.value)) {
            value = *real;
        } else if (const auto* integer = std::get_if<std::int64_t>(&constant.value)) {
            value = static_cast<double>(*integer);
        }
        const Scalar spelled = scalar == Scalar::kF64 ? Scalar::kF64 : Scalar::kF32;
        const Precedence precedence =
            std::signbit(value) && value == value ? Precedence::kUnary : Precedence::kPostfix;
        if (std::isnan(value)) {
            return {"NAN", Precedence::kPostfix, Scalar::kF32};
        }
        if (std::isinf(value)) {
            return {value < 0 ? "-INFINITY" : "INFINITY", precedence, Scalar::kF32};
        }
        std::string text = shortest(value, spelled == Scalar::kF32);
        if (spelled == Scalar::kF32) {
            text += "f";
        }
        return {std::move(text), precedence, spelled, !is_half(scalar) || fits_half(value, scalar),
                true};
    }
    std::int64_t value = 0;
    if (const auto* integer = std::get_if<std::int64_t>(&constant.value)) {
        value = *integer;
    } else if (const auto* truth = std::get_if<bool>(&constant.value)) {
        value = *truth ? 1 : 0;
    }
    if (scalar == Scalar::kBool) {
        return {value != 0 ? "true" : "false", Precedence::kPostfix, Scalar::kBool};
    }
    if (ir::is_unsigned_integer(scalar)) {
        const auto bits = static_cast<std::uint64_t>(value);
        if (bits <= static_cast<std::uint64_t>(kI32Max)) {
            return {std::to_string(bits), Precedence::kPostfix, Scalar::kI32, true, true};
        }
        return {std::to_string(bits) + (scalar == Scalar::kU64 ? "ull" : "u"), Precedence::kPostfix,
                scalar, true};
    }
    const Precedence precedence = value < 0 ? Precedence::kUnary : Precedence::kPostfix;
    if (value == std::numeric_limits<std::int64_t>::min()) {
        return {"(-9223372036854775807LL - 1)", Precedence::kPostfix, Scalar::kI64};
    }
    if (value > kI32Max || value < -kI32Max - 1) {
        return {std::to_string(value) + "LL", precedence, Scalar::kI64};
    }
    if (value == -kI32Max - 1) {
        return {"(-2147483647 - 1)", Precedence::kPostfix, Scalar::kI32};
    }
    return {std::to_string(value), precedence, Scalar::kI32, true, true};
}

}  // namespace parpy
