// Computes every scalar operator, bit for bit, on every type: the reference for the interpreter,
// for constant folding and for the back ends. NumPy >= 2 semantics as ops.def states them: integers
// wrap, nothing traps, f16 and bf16 compute in f32 and round to nearest even.
#pragma once

#include <span>

#include "ir/ir.h"

namespace parpy::ir {

// The value of `op` on operands of one scalar type, as a constant of `result`; converts with
// kConvert. Empty for operators that are not functions of their operands' values (memory, calls,
// registers, shuffles) and for type combinations that no typed program has. Weak types count as
// i64, f64, c128. `operands` are all of type `operand` except kSelect's first, a bool. Both
// branches of kSelect, kAnd and kOr have been evaluated here; the short circuit is the caller's.
[[nodiscard]] std::optional<Constant> evaluate_op(Op op, Scalar operand, Scalar result,
                                                  std::span<const Constant> operands);

// Whether every back end computes `op` on `operand` to the last bit as evaluate_op does. It holds
// for all but elementary functions, which are the C library's here, and their complex counterparts.
[[nodiscard]] bool is_exact(Op op, Scalar operand);

// kConvert: as a C cast. A float beyond the integer's range gives NumPy's result on x86-64: types
// of up to 16 bits have the low bits of the i32 result, unsigned types the bits of a negative
// integer; NaN and values beyond the i32 or i64 give the lowest i32 or i64. The Constant may hold
// any kind of value whatever `from` is, except that `from` distinguishes u64 from i64.
[[nodiscard]] Constant convert_constant(const Constant& value, Scalar from, Scalar to);

// Rounding to the narrow floats (nearest, ties to even; one rounding), and back.
[[nodiscard]] std::uint16_t f16_bits(double value);
[[nodiscard]] double f16_value(std::uint16_t bits);
[[nodiscard]] std::uint16_t bf16_bits(double value);
[[nodiscard]] double bf16_value(std::uint16_t bits);

}  // namespace parpy::ir
