// How an integer expression moves when a variable grows: what its least and greatest values in a
// range of the variable follow from.
#pragma once

#include <cstdint>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

enum class Trend : std::uint8_t { kConstant, kGrows, kFalls, kUnknown };

// Of sums, constant multiples, minima and maxima of the variable and of what `changed` does not
// write. Anything else, loads included, is kUnknown.
[[nodiscard]] Trend trend_of(const ir::Expr& expr, const ir::Var& variable, const Uses& changed);

}  // namespace parpy
