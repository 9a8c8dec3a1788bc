// The CPU dialect: C++ for the embedded Clang (which wraps on signed overflow and contracts
// nothing). Elementary functions are inline polynomials that vectorise (prelude/math_*.inc); the
// host part of every other target is written in this dialect too.

#include "dialects/own_functions.h"

namespace parpy {
namespace {

using enum ir::Op;
using enum Precedence;
using enum Yields;
using ir::Scalar;

constexpr Spelling kOperators[] = {
    {kSqrt, kF32s, "__builtin_sqrtf($0)", kPostfix, kFloat},
    {kSqrt, kF64s, "__builtin_sqrt($0)"},
    {kErf, kF32s, "erf_f32($0)", kPostfix, kFloat},
    {kErf, kF64s, "erf_f64($0)"},
    {kErfc, kF32s, "erfc_f32($0)", kPostfix, kFloat},
    {kErfc, kF64s, "erfc_f64($0)"},
    {kGamma, kF32s, "gamma_f32($0)", kPostfix, kFloat},
    {kGamma, kF64s, "gamma_f64($0)"},
    {kLgamma, kF32s, "lgamma_f32($0)", kPostfix, kFloat},
    {kLgamma, kF64s, "lgamma_f64($0)"},
    {kFloor, kF32s, "__builtin_floorf($0)", kPostfix, kFloat},
    {kFloor, kF64s, "__builtin_floor($0)"},
    {kCeil, kF32s, "__builtin_ceilf($0)", kPostfix, kFloat},
    {kCeil, kF64s, "__builtin_ceil($0)"},
    {kTrunc, kF32s, "__builtin_truncf($0)", kPostfix, kFloat},
    {kTrunc, kF64s, "__builtin_trunc($0)"},
    {kRint, kF32s, "__builtin_rintf($0)", kPostfix, kFloat},
    {kRint, kF64s, "__builtin_rint($0)"},
    {kFmod, kF32s, "fmod_f32($0, $1)", kPostfix, kFloat},
    {kFmod, kF64s, "fmod_f64($0, $1)"},
    {kCopysign, kF32s, "__builtin_copysignf($0, $1)", kPostfix, kFloat},
    {kCopysign, kF64s, "__builtin_copysign($0, $1)"},
    {kNextafter, set_of(ir::Scalar::kF16), "next_f16($0, $1)", kPostfix, kFloat},
    {kNextafter, set_of(ir::Scalar::kBF16), "next_bf16($0, $1)", kPostfix, kFloat},
    {kNextafter, kF32s, "nextafter_f32($0, $1)", kPostfix, kFloat},
    {kNextafter, kF64s, "nextafter_f64($0, $1)"},
    {kFma, kF32s, "__builtin_fmaf($0, $1, $2)", kPostfix, kFloat},
    {kFma, kF64s, "__builtin_fma($0, $1, $2)"},
    {kAbs, kF32s, "__builtin_fabsf($0)", kPostfix, kFloat},
    {kAbs, kF64s, "__builtin_fabs($0)"},
    {kSignbit, kF32s, "__builtin_signbitf($0)", kPostfix},
    {kSignbit, kF64s, "__builtin_signbit($0)", kPostfix},
    {kBits, kF64s, "__builtin_bit_cast(i64, $0)"},
};

// Operators of reductions in vector loops, where the order of operands is free.
constexpr Spelling kAnyOrder[] = {
    {kAdd, kHalves, "add_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kSub, kHalves, "sub_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kMul, kHalves, "mul_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kAdd, kFloats, "add_any_order($0, $1)", kPostfix, kFloat},
    {kSub, kFloats, "sub_any_order($0, $1)", kPostfix, kFloat},
    {kMul, kFloats, "mul_any_order($0, $1)", kPostfix, kFloat},
    {kMin, kHalves, "min_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kMax, kHalves, "max_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kMinimum, kHalves, "min_nan_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kMaximum, kHalves, "max_nan_any_order((float)$0, (float)$1)", kPostfix, kFloat},
    {kMin, kFloats, "min_any_order($0, $1)", kPostfix, kFloat},
    {kMax, kFloats, "max_any_order($0, $1)", kPostfix, kFloat},
    {kMinimum, kFloats, "min_nan_any_order($0, $1)", kPostfix, kFloat},
    {kMaximum, kFloats, "max_nan_any_order($0, $1)", kPostfix, kFloat},
    {kAnd, kBools, "$0 & $1", kBitwiseAnd},
    {kOr, kBools, "$0 | $1", kBitwiseOr},
};

constexpr Snippet kPrelude[] = {
#define SNIPPET(name, text) {name, text},
#include "dialects/prelude/cpu.inc"
#include "dialects/prelude/math_f32.inc"
#include "dialects/prelude/math_f64.inc"
#undef SNIPPET
};

constexpr Scalar kAtomicAdds[] = {Scalar::kI8, Scalar::kI16, Scalar::kI32, Scalar::kI64,
                                  Scalar::kU8, Scalar::kU16, Scalar::kU32, Scalar::kU64};

constexpr Dialect kDialect{
    .name = "cpu",
    .types = {"bool", "i8", "i16", "int", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "float",
              "double", "c64", "c128"},
    .registers = {"0", "0", "0", "0", "0", "0", "1", "1", "1", "1", "1", "1", "0", "0", "1",
                  "(i64)__builtin_frame_address(0)", "parpy_stack_limit()"},
    .barriers = {},
    .functions = kOwnFunctions,
    .operators = kOperators,
    .any_order = kAnyOrder,
    .prelude = kPrelude,
    .helper_qualifiers = "INLINE",
    // Their frames must be real, or endless recursion would be an endless loop.
    .recursive_qualifiers = "__attribute__((disable_tail_calls)) static",
    .shared_qualifier = "",
    .copied_qualifier = "",
    .restrict_qualifier = "__restrict",
    .independent_loop = "#pragma clang loop vectorize(assume_safety)",
    .unrolled_loop = "#pragma clang loop unroll(full)",
    .float_to_integer = "truncate<$t>($0)",
    .atomic_adds = kAtomicAdds,
};

}  // namespace

const Dialect& cpu_dialect() {
    return kDialect;
}

}  // namespace parpy
