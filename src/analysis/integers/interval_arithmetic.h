// Arithmetic on value ranges: the range of an operator's result, and the values of an operand that
// satisfy a comparison. Part of Intervals (intervals.h).
#pragma once

#include "analysis/integers/intervals.h"
#include "ir/ir.h"

namespace parpy {

__extension__ using Wide = __int128;  // holds every result on 64-bit operands

inline constexpr Interval kEmptyInterval = {1, 0};

// The range low … high, or the whole type's if the type may wrap it.
[[nodiscard]] Interval fit(Wide low, Wide high, ir::Scalar scalar);
// The range of |a|.
[[nodiscard]] Interval magnitude(const Interval& a, ir::Scalar scalar);
// The range of `a op b`; all() for operators that are not handled.
[[nodiscard]] Interval arithmetic(ir::Op op, const Interval& a, const Interval& b,
                                  ir::Scalar scalar);

// The comparison that holds where this one does not, and the one with its operands swapped.
[[nodiscard]] ir::Op negation(ir::Op comparison);
[[nodiscard]] ir::Op mirrored(ir::Op comparison);
// The values of x that satisfy `x op y` for some y.
[[nodiscard]] Interval restricted(const Interval& x, ir::Op op, const Interval& y);

}  // namespace parpy
