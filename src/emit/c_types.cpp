// See c_types.h.
#include "emit/c_types.h"

#include <algorithm>

namespace parpy {

using ir::Scalar;

bool is_small(Scalar s) {
    return s == Scalar::kBool || (ir::is_integer(s) && size_in_bytes(s) < 4);
}
bool is_half(Scalar s) {
    return s == Scalar::kF16 || s == Scalar::kBF16;
}

Scalar promoted(Scalar s) {
    if (is_small(s)) {
        return Scalar::kI32;
    }
    return is_half(s) ? Scalar::kF32 : s;
}

Scalar common(Scalar a, Scalar b) {
    a = promoted(a);
    b = promoted(b);
    if (a == b || ir::is_complex(a)) {
        return a;
    }
    if (ir::is_complex(b) || ir::is_float(b)) {
        return ir::is_float(a) ? std::max(a, b) : b;
    }
    if (ir::is_float(a)) {
        return a;
    }
    const auto rank = [](Scalar s) {
        return 2 * size_in_bytes(s) + static_cast<int>(ir::is_unsigned_integer(s));
    };
    return rank(a) > rank(b) ? a : b;
}

bool widens(Scalar from, Scalar to) {
    if (from == to) {
        return true;
    }
    if (ir::is_integer(to)) {
        if (from == Scalar::kBool) {
            return true;
        }
        return ir::is_integer(from) && size_in_bytes(from) < size_in_bytes(to) &&
               (ir::is_unsigned_integer(from) || ir::is_signed_integer(to));
    }
    if (to == Scalar::kF64) {
        return from == Scalar::kF32 || from == Scalar::kF16 ||
               (!ir::is_float(from) && !ir::is_complex(from) && size_in_bytes(from) <= 4);
    }
    return to == Scalar::kF32 && (from == Scalar::kF16 || is_small(from));
}

}  // namespace parpy
