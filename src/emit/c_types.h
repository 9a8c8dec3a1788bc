// The types of C++ expressions, which may differ from those of the operands.
#pragma once

#include "ir/type.h"

namespace parpy {

// Whether it is smaller than int: bool, or an integer of less than 32 bits.
[[nodiscard]] bool is_small(ir::Scalar s);
[[nodiscard]] bool is_half(ir::Scalar s);
// The type after C++'s integral promotion; that of halves is float.
[[nodiscard]] ir::Scalar promoted(ir::Scalar s);
// The common type by the usual arithmetic conversions.
[[nodiscard]] ir::Scalar common(ir::Scalar a, ir::Scalar b);
// Whether a conversion keeps every value and C++ does it implicitly.
[[nodiscard]] bool widens(ir::Scalar from, ir::Scalar to);

}  // namespace parpy
