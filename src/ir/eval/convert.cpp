// Conversions between scalar types (kConvert), and the narrow floats f16 and bf16.
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/eval/ops.h"

namespace parpy::ir {
namespace {

// A binary interchange format of 16 bits.
struct NarrowFormat {
    int mantissa_bits;
    int exponent_bits;
    [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] int min_exponent() const { return 1 - bias(); }
    [[nodiscard]] unsigned infinity() const {
        return ((1U << exponent_bits) - 1U) << mantissa_bits;
    }
};
constexpr NarrowFormat kHalf{10, 5};
constexpr NarrowFormat kBrain{7, 8};

std::uint16_t encode(double value, const NarrowFormat& format) {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const auto signed_bits = [&](unsigned bits) { return static_cast<std::uint16_t>(sign | bits); };
    if (std::isnan(value)) {
        return signed_bits(format.infinity() | (1U << (format.mantissa_bits - 1)));
    }
    if (std::isinf(value)) {
        return signed_bits(format.infinity());
    }
    if (value == 0) {
        return signed_bits(0);
    }
    // The value as a whole number of the format's quanta at its magnitude, rounded to even.
    const int exponent = std::max(std::ilogb(value), format.min_exponent());
    const int quantum = exponent - format.mantissa_bits;
    const double quanta = std::nearbyint(std::ldexp(std::fabs(value), -quantum));
    if (exponent > format.bias()) {
        return signed_bits(format.infinity());
    }
    // Adding (not or-ing) carries a mantissa that rounded up into the exponent; a subnormal number
    // has fewer quanta than a mantissa holds and exponent field 0.
    const unsigned bits =
        (static_cast<unsigned>(exponent + format.bias() - 1) << format.mantissa_bits) +
        static_cast<unsigned>(quanta);
    return signed_bits(std::min(bits, format.infinity()));
}

double decode(std::uint16_t bits, const NarrowFormat& format) {
    const unsigned mantissa_mask = (1U << format.mantissa_bits) - 1U;
    const unsigned mantissa = bits & mantissa_mask;
    const unsigned field = (bits & 0x7FFFU) >> format.mantissa_bits;
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    if (field == (1U << format.exponent_bits) - 1U) {
        return mantissa != 0 ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
                             : sign * std::numeric_limits<double>::infinity();
    }
    const int exponent = std::max(static_cast<int>(field), 1) - format.bias();
    const double significand = mantissa + (field != 0 ? mantissa_mask + 1U : 0U);
    return sign * std::ldexp(significand, exponent - format.mantissa_bits);
}

std::int64_t wrap(std::int64_t value, Scalar to) {
    switch (to) {
        case Scalar::kI8:
            return static_cast<std::int8_t>(value);
        case Scalar::kI16:
            return static_cast<std::int16_t>(value);
        case Scalar::kI32:
            return static_cast<std::int32_t>(value);
        case Scalar::kU8:
            return static_cast<std::uint8_t>(value);
        case Scalar::kU16:
            return static_cast<std::uint16_t>(value);
        case Scalar::kU32:
            return static_cast<std::uint32_t>(value);
        default:
            return value;
    }
}

// The value as an S; the lowest S if it does not fit.
template <class S>
S whole(double value) {
    const double top = -static_cast<double>(std::numeric_limits<S>::min());
    return value >= -top && value < top ? static_cast<S>(value) : std::numeric_limits<S>::min();
}

// Unsigned: moves values of the upper half to the lower one before the conversion, and back.
template <class S>
std::int64_t whole_unsigned(double value) {
    const double top = -static_cast<double>(std::numeric_limits<S>::min());
    if (!(value >= top)) return whole<S>(value);
    return static_cast<std::int64_t>(whole<S>(value - top) ^ std::numeric_limits<S>::min());
}

std::int64_t integer_from_double(double value, Scalar to) {
    switch (to) {
        case Scalar::kI64:
            return whole<std::int64_t>(value);
        case Scalar::kU64:
            return whole_unsigned<std::int64_t>(value);
        case Scalar::kU32:
            return wrap(whole_unsigned<std::int32_t>(value), to);
        default:
            return wrap(whole<std::int32_t>(value), to);
    }
}

double round_to(double value, Scalar to) {
    switch (to) {
        case Scalar::kF16:
            return f16_value(f16_bits(value));
        case Scalar::kBF16:
            return bf16_value(bf16_bits(value));
        case Scalar::kF32:
        case Scalar::kC64:
            return static_cast<double>(static_cast<float>(value));
        default:
            return value;
    }
}

// Rounds once for f32 and f64; the narrow floats go through f32, as in hardware.
double float_from_integer(std::int64_t value, bool is_unsigned, Scalar to) {
    if (to == Scalar::kF64 || to == Scalar::kC128) {
        return is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(value))
                           : static_cast<double>(value);
    }
    const float single = is_unsigned ? static_cast<float>(static_cast<std::uint64_t>(value))
                                     : static_cast<float>(value);
    return round_to(static_cast<double>(single), to);
}

}  // namespace

std::uint16_t f16_bits(double value) {
    return encode(value, kHalf);
}
double f16_value(std::uint16_t bits) {
    return decode(bits, kHalf);
}
std::uint16_t bf16_bits(double value) {
    return encode(value, kBrain);
}
double bf16_value(std::uint16_t bits) {
    return decode(bits, kBrain);
}

Constant convert_constant(const Constant& value, Scalar from, Scalar to) {
    return std::visit(
        [&](auto v) -> Constant {
            using V = decltype(v);
            if constexpr (std::is_same_v<V, std::complex<double>>) {
                if (is_complex(to)) {
                    return {std::complex<double>(round_to(v.real(), to), round_to(v.imag(), to))};
                }
                if (to == Scalar::kBool) {
                    return {v.real() != 0 || v.imag() != 0};
                }
                return convert_constant(Constant{v.real()}, Scalar::kF64, to);
            } else {
                if (to == Scalar::kBool) {
                    return {v != V{}};
                }
                if (is_integer(to)) {
                    if constexpr (std::is_same_v<V, double>) {
                        return {integer_from_double(v, to)};
                    } else {
                        return {wrap(static_cast<std::int64_t>(v), to)};
                    }
                }
                double real = 0;
                if constexpr (std::is_same_v<V, double>) {
                    real = round_to(v, to);
                } else {
                    real =
                        float_from_integer(static_cast<std::int64_t>(v), from == Scalar::kU64, to);
                }
                return is_complex(to) ? Constant{std::complex<double>(real, 0)} : Constant{real};
            }
        },
        value.value);
}

}  // namespace parpy::ir
