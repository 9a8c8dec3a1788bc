// The Metal dialect: device code in the Metal shading language, with its standard library. There
// are no 64-bit floats; integers and floats without an array are 32 bits wide (Options). Kernels
// get their arguments as buffers, in order, and the hardware's indices as separate parameters.

#include "dialects/dialect.h"

namespace parpy {
namespace {

using enum ir::Op;
using enum Precedence;
using enum Yields;
using ir::Scalar;

constexpr Spelling kOperators[] = {
    {kSqrt, kFloats, "sqrt(float($0))", kPostfix, kFloat},
    {kCbrt, kFloats, "cbrt_f32($0)", kPostfix, kFloat},
    {kExp, kFloats, "exp(float($0))", kPostfix, kFloat},
    {kExp2, kFloats, "exp2(float($0))", kPostfix, kFloat},
    {kExpm1, kFloats, "expm1_f32($0)", kPostfix, kFloat},
    {kLog, kFloats, "log(float($0))", kPostfix, kFloat},
    {kLog2, kFloats, "log2(float($0))", kPostfix, kFloat},
    {kLog10, kFloats, "log10(float($0))", kPostfix, kFloat},
    {kLog1p, kFloats, "log1p_f32($0)", kPostfix, kFloat},
    {kSin, kFloats, "sin(float($0))", kPostfix, kFloat},
    {kCos, kFloats, "cos(float($0))", kPostfix, kFloat},
    {kTan, kFloats, "tan(float($0))", kPostfix, kFloat},
    {kAsin, kFloats, "asin(float($0))", kPostfix, kFloat},
    {kAcos, kFloats, "acos(float($0))", kPostfix, kFloat},
    {kAtan, kFloats, "atan(float($0))", kPostfix, kFloat},
    {kSinh, kFloats, "sinh(float($0))", kPostfix, kFloat},
    {kCosh, kFloats, "cosh(float($0))", kPostfix, kFloat},
    {kTanh, kFloats, "tanh(float($0))", kPostfix, kFloat},
    {kAsinh, kFloats, "asinh(float($0))", kPostfix, kFloat},
    {kAcosh, kFloats, "acosh(float($0))", kPostfix, kFloat},
    {kAtanh, kFloats, "atanh(float($0))", kPostfix, kFloat},
    {kErf, kFloats, "erf_f32($0)", kPostfix, kFloat},
    {kErfc, kFloats, "erfc_f32($0)", kPostfix, kFloat},
    {kGamma, kFloats, "gamma_f32($0)", kPostfix, kFloat},
    {kLgamma, kFloats, "lgamma_f32($0)", kPostfix, kFloat},
    {kFloor, kFloats, "floor(float($0))", kPostfix, kFloat},
    {kCeil, kFloats, "ceil(float($0))", kPostfix, kFloat},
    {kTrunc, kFloats, "trunc(float($0))", kPostfix, kFloat},
    {kRint, kFloats, "rint(float($0))", kPostfix, kFloat},
    {kAtan2, kFloats, "atan2(float($0), float($1))", kPostfix, kFloat},
    {kHypot, kFloats, "hypot_f32($0, $1)", kPostfix, kFloat},
    {kPow, kFloats, "pow(float($0), float($1))", kPostfix, kFloat},
    {kFmod, kFloats, "fmod(float($0), float($1))", kPostfix, kFloat},
    {kCopysign, kFloats, "copysign(float($0), float($1))", kPostfix, kFloat},
    {kNextafter, kFloats, "nextafter(float($0), float($1))", kPostfix, kFloat},
    {kFma, kFloats, "fma(float($0), float($1), float($2))", kPostfix, kFloat},
    {kAbs, kFloats, "fabs(float($0))", kPostfix, kFloat},
    {kSignbit, kFloats, "signbit(float($0))"},
    {kRsqrt, kFloats, "rsqrt(float($0))", kPostfix, kFloat},
    {kShuffleDown, kBools, "(bool)simd_shuffle_down(int($0), ushort($1))", kUnary},
    {kShuffleXor, kBools, "(bool)simd_shuffle_xor(int($0), ushort($1))", kUnary},
    {kShuffleDown, kAll, "simd_shuffle_down($0, ushort($1))", kPostfix, kPromoted},
    {kShuffleXor, kAll, "simd_shuffle_xor($0, ushort($1))", kPostfix, kPromoted},
};

constexpr Snippet kPrelude[] = {
#define SNIPPET(name, text) {name, text},
#include "dialects/prelude/metal.inc"
#undef SNIPPET
};

constexpr Scalar kAtomicAdds[] = {Scalar::kI32, Scalar::kU32, Scalar::kF32};

constexpr Dialect kDialect{
    .name = "metal",
    .registers = {"(int)thread_id.x", "(int)thread_id.y", "(int)thread_id.z", "(int)block_id.x",
                  "(int)block_id.y", "(int)block_id.z", "(int)block_size.x", "(int)block_size.y",
                  "(int)block_size.z", "(int)grid_size.x", "(int)grid_size.y", "(int)grid_size.z",
                  "(int)(thread_id.x & 31)", "(int)(thread_id.x >> 5)", "32", "0", "0"},
    .barriers = {"simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
                 "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
                 "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
                 "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, "
                 "thread_scope_device);",
                 "atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, "
                 "thread_scope_threadgroup);",
                 "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, "
                 "thread_scope_device);",
                 ""},
    .operators = kOperators,
    .has_double = false,
    .reports_failures = false,
    .overlaps_launches = false,
    .wraps_by_helpers = true,
    .prelude = kPrelude,
    .recursive_qualifiers = "static",
    .shared_qualifier = "threadgroup",
    .unrolled_loop = "#pragma unroll",
    .atomic_adds = kAtomicAdds,
    .preamble = "#include <metal_stdlib>\nusing namespace metal;\n",
    .kernel_head = "kernel void $0(",
    .bounded_kernel_head = "[[max_total_threads_per_threadgroup($1)]] kernel void $0(",
    .kernel_argument = " [[buffer($0)]]",
    .kernel_scalar = "constant $0&",
    .array_qualifier = "device ",
    .kernel_parameters =
        "uint3 thread_id [[thread_position_in_threadgroup]], "
        "uint3 block_id [[threadgroup_position_in_grid]], "
        "uint3 block_size [[threads_per_threadgroup]], "
        "uint3 grid_size [[threadgroups_per_grid]]",
};

}  // namespace

const Dialect& metal_dialect() {
    return kDialect;
}

}  // namespace parpy
