// The monotonicity of an integer expression in a variable, which gives its least and greatest value
// in a range of the variable.
#pragma once

#include <cstdint>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

enum class Trend : std::uint8_t { kConstant, kGrows, kFalls, kUnknown };

// Handles sums, constant multiples, minima and maxima of the variable and of expressions that
// `changed` does not write. Anything else, loads included, is kUnknown.
[[nodiscard]] Trend trend_of(const ir::Expr& expr, const ir::Var& variable, const Uses& changed);

}  // namespace parpy
