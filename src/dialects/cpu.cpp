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
    FLOATS(kSqrt, "__builtin_sqrtf($0)", "__builtin_sqrt($0)"),
    FLOATS(kErf, "erf_f32($0)", "erf_f64($0)"),
    FLOATS(kErfc, "erfc_f32($0)", "erfc_f64($0)"),
    FLOATS(kGamma, "gamma_f32($0)", "gamma_f64($0)"),
    FLOATS(kLgamma, "lgamma_f32($0)", "lgamma_f64($0)"),
    FLOATS(kFloor, "__builtin_floorf($0)", "__builtin_floor($0)"),
    FLOATS(kCeil, "__builtin_ceilf($0)", "__builtin_ceil($0)"),
    FLOATS(kTrunc, "__builtin_truncf($0)", "__builtin_trunc($0)"),
    FLOATS(kRint, "__builtin_rintf($0)", "__builtin_rint($0)"),
    FLOATS(kFmod, "fmod_f32($0, $1)", "fmod_f64($0, $1)"),
    FLOATS(kCopysign, "__builtin_copysignf($0, $1)", "__builtin_copysign($0, $1)"),
    {kNextafter, set_of(ir::Scalar::kF16), "next_f16($0, $1)", kPostfix, kFloat},
    {kNextafter, set_of(ir::Scalar::kBF16), "next_bf16($0, $1)", kPostfix, kFloat},
    FLOATS(kNextafter, "nextafter_f32($0, $1)", "nextafter_f64($0, $1)"),
    FLOATS(kFma, "__builtin_fmaf($0, $1, $2)", "__builtin_fma($0, $1, $2)"),
    FLOATS(kAbs, "__builtin_fabsf($0)", "__builtin_fabs($0)"),
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
    .registers = {"0", "0", "0", "0", "0", "0", "1", "1", "1", "1", "1", "1", "0", "0", "1",
                  "(i64)__builtin_frame_address(0)", "parpy_stack_limit()"},
    .functions = kOwnFunctions,
    .operators = kOperators,
    .any_order = kAnyOrder,
    .prelude = kPrelude,
    // They need real frames, or endless recursion would be an endless loop.
    .recursive_qualifiers = "__attribute__((disable_tail_calls)) static",
    .restrict_qualifier = "__restrict",
    .independent_loop = "#pragma clang loop vectorize(assume_safety)",
    .unrolled_loop = "#pragma clang loop unroll(full)",
    .atomic_adds = kAtomicAdds,
};

}  // namespace

const Dialect& cpu_dialect() {
    return kDialect;
}

}  // namespace parpy
