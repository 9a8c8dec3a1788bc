// Arithmetic on value ranges: what an operator makes of the ranges of its operands, and what a
// comparison leaves of them. Part of Intervals (intervals.h).
#pragma once

#include "analysis/integers/intervals.h"
#include "ir/ir.h"

namespace parpy {

__extension__ using Wide = __int128;  // holds every result on 64-bit operands

inline constexpr Interval kEmptyInterval = {1, 0};

// The ends as computed without overflow, or everything if the type may wrap them.
[[nodiscard]] Interval fit(Wide low, Wide high, ir::Scalar scalar);
// Of |a|.
[[nodiscard]] Interval magnitude(const Interval& a, ir::Scalar scalar);
// Of `a op b`; everything for operators on which nothing is known.
[[nodiscard]] Interval arithmetic(ir::Op op, const Interval& a, const Interval& b,
                                  ir::Scalar scalar);

// The comparison that holds where this one does not, and the one with its operands swapped.
[[nodiscard]] ir::Op negation(ir::Op comparison);
[[nodiscard]] ir::Op mirrored(ir::Op comparison);
// The values that `x op y` leaves of x.
[[nodiscard]] Interval restricted(const Interval& x, ir::Op op, const Interval& y);

}  // namespace parpy
