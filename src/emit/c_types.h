// The types that C++ computes with, where they are not those of the operands.
#pragma once

#include "ir/type.h"

namespace parpy {

// Smaller than int: bool and integers of less than 32 bits.
[[nodiscard]] bool is_small(ir::Scalar s);
[[nodiscard]] bool is_half(ir::Scalar s);
// What C++ computes with.
[[nodiscard]] ir::Scalar promoted(ir::Scalar s);
// The usual arithmetic conversions.
[[nodiscard]] ir::Scalar common(ir::Scalar a, ir::Scalar b);
// Does a conversion keep every value, and does C++ do it without being asked?
[[nodiscard]] bool widens(ir::Scalar from, ir::Scalar to);

}  // namespace parpy
