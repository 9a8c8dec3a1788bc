// Reads and writes elements of arrays in memory (eval.h).
#include <cstring>
#include <type_traits>

#include "ir/eval/eval.h"
#include "ir/eval/ops.h"

namespace parpy::ir {
namespace {

template <class T>
Constant load_as(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_floating_point_v<T>) {
        return {static_cast<double>(value)};
    } else {
        return {static_cast<std::int64_t>(value)};
    }
}

template <class T, class V>
void store_as(void* to, V value) {
    const T narrow = static_cast<T>(value);
    std::memcpy(to, &narrow, sizeof narrow);
}

template <class T>
Constant load_complex(const void* from) {
    T parts[2];
    std::memcpy(parts, from, sizeof parts);
    return {std::complex<double>(static_cast<double>(parts[0]), static_cast<double>(parts[1]))};
}

template <class T>
void store_complex(void* to, const std::complex<double>& value) {
    const T parts[2] = {static_cast<T>(value.real()), static_cast<T>(value.imag())};
    std::memcpy(to, parts, sizeof parts);
}

}  // namespace

Constant load_element(Scalar type, const void* from) {
    switch (type) {
        case Scalar::kBool:
            return {*static_cast<const unsigned char*>(from) != 0};
        case Scalar::kI8:
            return load_as<std::int8_t>(from);
        case Scalar::kI16:
            return load_as<std::int16_t>(from);
        case Scalar::kI32:
            return load_as<std::int32_t>(from);
        case Scalar::kI64:
            return load_as<std::int64_t>(from);
        case Scalar::kU8:
            return load_as<std::uint8_t>(from);
        case Scalar::kU16:
            return load_as<std::uint16_t>(from);
        case Scalar::kU32:
            return load_as<std::uint32_t>(from);
        case Scalar::kU64:
            return load_as<std::uint64_t>(from);
        case Scalar::kF16:
        case Scalar::kBF16: {
            std::uint16_t bits = 0;
            std::memcpy(&bits, from, sizeof bits);
            return {type == Scalar::kF16 ? f16_value(bits) : bf16_value(bits)};
        }
        case Scalar::kF32:
            return load_as<float>(from);
        case Scalar::kF64:
            return load_as<double>(from);
        case Scalar::kC64:
            return load_complex<float>(from);
        case Scalar::kC128:
            return load_complex<double>(from);
    }
    return {};
}

void store_element(Scalar type, void* to, const Constant& value) {
    const Constant converted = convert_constant(value, type, type);
    if (const bool* flag = std::get_if<bool>(&converted.value)) {
        store_as<unsigned char>(to, *flag);
        return;
    }
    if (const auto* number = std::get_if<std::int64_t>(&converted.value)) {
        // Little-endian, like every target of ParPy: the low bytes are the narrow integer.
        std::memcpy(to, number, static_cast<std::size_t>(size_in_bytes(type)));
        return;
    }
    if (const auto* z = std::get_if<std::complex<double>>(&converted.value)) {
        type == Scalar::kC64 ? store_complex<float>(to, *z) : store_complex<double>(to, *z);
        return;
    }
    const double real = std::get<double>(converted.value);
    switch (type) {
        case Scalar::kF16:
            store_as<std::uint16_t>(to, f16_bits(real));
            break;
        case Scalar::kBF16:
            store_as<std::uint16_t>(to, bf16_bits(real));
            break;
        case Scalar::kF32:
            store_as<float>(to, real);
            break;
        default:
            store_as<double>(to, real);
            break;
    }
}

}  // namespace parpy::ir
