// The floating-point and complex half of evaluate_op (ops.h).
#pragma once

#include "ir/eval/ops.h"

namespace parpy::ir {

// `type` is a float, that of the operands; the result is of this type, or a bool by ops.def.
[[nodiscard]] std::optional<Constant> evaluate_float(Op op, Scalar type,
                                                     std::span<const double> operands);
// `type` is complex.
[[nodiscard]] std::optional<Constant> evaluate_complex(
    Op op, Scalar type, std::span<const std::complex<double>> operands);

}  // namespace parpy::ir
