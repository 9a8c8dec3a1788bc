// See float_flags.h.
#include "ufuncs/float_flags.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace parpy {

namespace {

enum class Kind : std::uint8_t { kFinite, kInfinite, kNan };

template <class T>
Kind kind_of(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if (std::isnan(value)) return Kind::kNan;
    return std::isinf(value) ? Kind::kInfinite : Kind::kFinite;
}

Kind kind_of_half(const char* at) {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    if ((bits & 0x7c00) != 0x7c00) return Kind::kFinite;
    return (bits & 0x03ff) != 0 ? Kind::kNan : Kind::kInfinite;
}

Kind kind_at(const FlaggedOperand& operand, std::int64_t index) {
    const char* at = operand.data + index * operand.step;
    switch (operand.scalar) {
        case ir::Scalar::kF16:
            return kind_of_half(at);
        case ir::Scalar::kF32:
            return kind_of<float>(at);
        case ir::Scalar::kF64:
            return kind_of<double>(at);
        case ir::Scalar::kC64:
            return std::max(kind_of<float>(at), kind_of<float>(at + sizeof(float)));
        case ir::Scalar::kC128:
            return std::max(kind_of<double>(at), kind_of<double>(at + sizeof(double)));
        default:
            return Kind::kFinite;
    }
}

}  // namespace

int confirmed_flags(int flags, std::span<const FlaggedOperand> inputs,
                    std::span<const FlaggedOperand> outputs, std::int64_t count) {
    constexpr int kInfinities = FE_DIVBYZERO | FE_OVERFLOW;
    int open = flags & (FE_INVALID | kInfinities);
    int found = flags & FE_UNDERFLOW;
    for (std::int64_t i = 0; i < count && open != 0; ++i) {
        Kind result = Kind::kFinite;
        for (const FlaggedOperand& output : outputs)
            result = std::max(result, kind_at(output, i));
        if (result == Kind::kFinite) continue;
        Kind given = Kind::kFinite;
        for (const FlaggedOperand& input : inputs) {
            if (!input.overwritten) given = std::max(given, kind_at(input, i));
        }
        int borne_out = 0;
        if (result == Kind::kNan && given != Kind::kNan) borne_out = FE_INVALID;
        if (result == Kind::kInfinite && given == Kind::kFinite) borne_out = kInfinities;
        found |= open & borne_out;
        open &= ~borne_out;
    }
    return found;
}

}  // namespace parpy
