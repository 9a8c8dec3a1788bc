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

// The result of a comparison of two real numbers; nothing for other operators.
template <class T>
[[nodiscard]] std::optional<bool> comparison(Op op, T a, T b) {
    switch (op) {
        case Op::kEq:
            return a == b;
        case Op::kNe:
            return a != b;
        case Op::kLt:
            return a < b;
        case Op::kLe:
            return a <= b;
        case Op::kGt:
            return a > b;
        case Op::kGe:
            return a >= b;
        default:
            return std::nullopt;
    }
}

}  // namespace parpy::ir
