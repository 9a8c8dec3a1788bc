// Scalar types, their names and sizes, and NumPy's promotion rules.
#include "ir/type.h"

#include <algorithm>
#include <array>

namespace parpy::ir {
namespace {

struct ScalarRow {
    std::string_view name;
    int size;
};

constexpr std::array<ScalarRow, kScalarCount> kScalars = {{
    {"bool", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"c64", 8},
    {"c128", 16},
}};

const ScalarRow& row(Scalar scalar) {
    return kScalars[static_cast<std::size_t>(scalar)];
}

Scalar signed_of_size(int size) {
    switch (size) {
        case 1:
            return Scalar::kI8;
        case 2:
            return Scalar::kI16;
        case 4:
            return Scalar::kI32;
        default:
            return Scalar::kI64;
    }
}

// The smallest float that NumPy uses for all values of an integer type.
Scalar float_for_integer(Scalar integer) {
    switch (size_in_bytes(integer)) {
        case 1:
            return Scalar::kF16;
        case 2:
            return Scalar::kF32;
        default:
            return Scalar::kF64;
    }
}

Scalar promote_integers(Scalar a, Scalar b) {
    const bool a_signed = is_signed_integer(a);
    if (a_signed == is_signed_integer(b)) {
        return size_in_bytes(a) >= size_in_bytes(b) ? a : b;
    }
    const Scalar s = a_signed ? a : b;
    const Scalar u = a_signed ? b : a;
    if (size_in_bytes(s) > size_in_bytes(u)) {
        return s;
    }
    return size_in_bytes(u) == 8 ? Scalar::kF64 : signed_of_size(2 * size_in_bytes(u));
}

Scalar promote_floats(Scalar a, Scalar b) {
    if (a == b) {
        return a;
    }
    if (size_in_bytes(a) == size_in_bytes(b)) {
        return Scalar::kF32;  // f16 and bf16: neither holds the other
    }
    return size_in_bytes(a) > size_in_bytes(b) ? a : b;
}

Scalar complex_of_float(Scalar real) {
    return real == Scalar::kF64 ? Scalar::kC128 : Scalar::kC64;
}

Scalar promote_strong(Scalar a, Scalar b) {
    if (a == b || b == Scalar::kBool) {
        return a;
    }
    if (a == Scalar::kBool) {
        return b;
    }
    if (is_integer(a) && is_integer(b)) {
        return promote_integers(a, b);
    }
    if (is_complex(a) || is_complex(b)) {
        const auto real = [](Scalar s) {
            if (is_complex(s)) {
                return s == Scalar::kC64 ? Scalar::kF32 : Scalar::kF64;
            }
            return is_integer(s) ? float_for_integer(s) : s;
        };
        return complex_of_float(promote_floats(real(a), real(b)));
    }
    const auto as_float = [](Scalar s, Scalar other) {
        if (!is_integer(s)) {
            return s;
        }
        const Scalar real = float_for_integer(s);
        return real == Scalar::kF16 && other == Scalar::kBF16 ? Scalar::kF32 : real;
    };
    return promote_floats(as_float(a, b), as_float(b, a));
}

// 0: bool, 1: integer, 2: float, 3: complex
int category(Scalar scalar) {
    if (is_complex(scalar)) {
        return 3;
    }
    if (is_float(scalar)) {
        return 2;
    }
    return scalar == Scalar::kBool ? 0 : 1;
}

// The type of `strong` with a Python scalar of kind `weak`: the strong type if its category is at
// least as high.
Scalar promote_weak(Scalar strong, Scalar weak) {
    if (category(strong) >= category(weak)) {
        return strong;
    }
    if (is_complex(weak) && is_float(strong)) {
        return complex_of_float(strong);
    }
    return weak;  // the default of its category: i64, f64 or c128
}

}  // namespace

std::string_view name(Scalar scalar) {
    return row(scalar).name;
}

std::optional<Scalar> scalar_from_name(std::string_view text) {
    const auto found = std::ranges::find(kScalars, text, &ScalarRow::name);
    if (found == kScalars.end()) {
        return std::nullopt;
    }
    return static_cast<Scalar>(found - kScalars.begin());
}

int size_in_bytes(Scalar scalar) {
    return row(scalar).size;
}

bool is_signed_integer(Scalar scalar) {
    return scalar >= Scalar::kI8 && scalar <= Scalar::kI64;
}
bool is_unsigned_integer(Scalar scalar) {
    return scalar >= Scalar::kU8 && scalar <= Scalar::kU64;
}
bool is_integer(Scalar scalar) {
    return scalar >= Scalar::kI8 && scalar <= Scalar::kU64;
}
bool is_float(Scalar scalar) {
    return scalar >= Scalar::kF16 && scalar <= Scalar::kF64;
}
bool is_complex(Scalar scalar) {
    return scalar >= Scalar::kC64;
}

bool is_wider(Scalar a, Scalar b) {
    const bool one_kind = (is_float(a) && is_float(b)) || (is_complex(a) && is_complex(b));
    return one_kind && size_in_bytes(a) > size_in_bytes(b);
}

std::string to_string(const Type& type) {
    switch (type.kind) {
        case Type::Kind::kUnknown:
            return "?";
        case Type::Kind::kVoid:
            return "void";
        case Type::Kind::kArray:
            return std::string(name(type.scalar)) + "[" + std::to_string(type.rank) + "]";
        case Type::Kind::kScalar:
            break;
    }
    if (type.weak) {
        return type.scalar == Scalar::kBool ? "pybool"
               : is_complex(type.scalar)    ? "complex"
               : is_float(type.scalar)      ? "float"
                                            : "int";
    }
    return std::string(name(type.scalar));
}

Type promote(const Type& a, const Type& b) {
    if (!a.is_scalar() || !b.is_scalar()) {
        return Type::unknown();
    }
    if (a.weak && b.weak) {
        return category(a.scalar) >= category(b.scalar) ? a : b;
    }
    if (a.weak != b.weak) {
        return Type::of(a.weak ? promote_weak(b.scalar, a.scalar)
                               : promote_weak(a.scalar, b.scalar));
    }
    return Type::of(promote_strong(a.scalar, b.scalar));
}

}  // namespace parpy::ir
