// Types of IR values. Arrays have only element type and rank here; extents and strides belong to
// the array variable (ir.h, Dim), because two arrays of one type may have different layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parpy::ir {

enum class Scalar : std::uint8_t {
    kBool,
    kI8,
    kI16,
    kI32,
    kI64,
    kU8,
    kU16,
    kU32,
    kU64,
    kF16,
    kBF16,
    kF32,
    kF64,
    kC64,
    kC128,
};
inline constexpr int kScalarCount = 15;

[[nodiscard]] std::string_view name(Scalar scalar);  // "bool", "i8", …, "f64", "c128"
[[nodiscard]] std::optional<Scalar> scalar_from_name(std::string_view name);
[[nodiscard]] int size_in_bytes(Scalar scalar);
[[nodiscard]] bool is_signed_integer(Scalar scalar);
[[nodiscard]] bool is_unsigned_integer(Scalar scalar);
[[nodiscard]] bool is_integer(Scalar scalar);  // either sign, not bool
[[nodiscard]] bool is_float(Scalar scalar);    // f16 bf16 f32 f64
[[nodiscard]] bool is_complex(Scalar scalar);
[[nodiscard]] bool is_wider(Scalar a, Scalar b);  // both float or both complex, a of more bits

struct Type {
    enum class Kind : std::uint8_t { kUnknown, kVoid, kScalar, kArray };

    Kind kind = Kind::kUnknown;
    Scalar scalar = Scalar::kI64;  // of the scalar, or of the array's elements
    bool weak = false;      // a Python bool, int, float or complex: weak under NEP 50. Arrays:
                            // one element, of whatever type is stored. Only before infer_types
                            // has run; no typed program holds a weak type.
    std::uint8_t rank = 0;  // arrays

    [[nodiscard]] static Type unknown() { return {}; }
    [[nodiscard]] static Type none() { return {Kind::kVoid}; }
    [[nodiscard]] static Type of(Scalar s) { return {Kind::kScalar, s}; }
    [[nodiscard]] static Type weak_of(Scalar s) { return {Kind::kScalar, s, true}; }
    [[nodiscard]] static Type array(Scalar s, int rank) {
        return {Kind::kArray, s, false, static_cast<std::uint8_t>(rank)};
    }

    [[nodiscard]] bool is_unknown() const { return kind == Kind::kUnknown; }
    [[nodiscard]] bool is_void() const { return kind == Kind::kVoid; }
    [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
    [[nodiscard]] bool is_array() const { return kind == Kind::kArray; }
    [[nodiscard]] bool is(Scalar s) const { return is_scalar() && scalar == s; }
    friend bool operator==(const Type&, const Type&) = default;
};

// The placement of an array that overlaps others: which of them share memory, and the offset of
// element [0, …] in it.
struct Placement {
    std::size_t group = 0;    // the number of the first argument in the group
    std::int64_t offset = 0;  // bytes from that argument's element [0, …]
    friend bool operator==(const Placement&, const Placement&) = default;
};

// "f64", "f64[2]" (rank 2), "int" / "float" / "complex" / "pybool" for the weak ones, "void", "?".
[[nodiscard]] std::string to_string(const Type& type);

// The type in which NumPy >= 2 combines two operands, weak types included (NEP 50). There is no
// weak bool.
[[nodiscard]] Type promote(const Type& a, const Type& b);

}  // namespace parpy::ir
