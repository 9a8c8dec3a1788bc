// The CUDA dialect: device code for NVRTC, without headers. Elementary functions are the built-in
// device functions; signed arithmetic on data goes through wrapping helpers, because NVRTC may
// assume that int does not overflow.

#include "dialects/own_functions.h"

namespace parpy {
namespace {

using enum ir::Op;
using enum Precedence;
using enum Yields;
using ir::Scalar;

constexpr Spelling kOperators[] = {
    {kSqrt, kF32s, "sqrtf($0)", kPostfix, kFloat},
    {kSqrt, kF64s, "sqrt($0)"},
    {kCbrt, kF32s, "cbrtf($0)", kPostfix, kFloat},
    {kCbrt, kF64s, "cbrt($0)"},
    {kExp, kF32s, "expf($0)", kPostfix, kFloat},
    {kExp, kF64s, "exp($0)"},
    {kExp2, kF32s, "exp2f($0)", kPostfix, kFloat},
    {kExp2, kF64s, "exp2($0)"},
    {kExpm1, kF32s, "expm1f($0)", kPostfix, kFloat},
    {kExpm1, kF64s, "expm1($0)"},
    {kLog, kF32s, "logf($0)", kPostfix, kFloat},
    {kLog, kF64s, "log($0)"},
    {kLog2, kF32s, "log2f($0)", kPostfix, kFloat},
    {kLog2, kF64s, "log2($0)"},
    {kLog10, kF32s, "log10f($0)", kPostfix, kFloat},
    {kLog10, kF64s, "log10($0)"},
    {kLog1p, kF32s, "log1pf($0)", kPostfix, kFloat},
    {kLog1p, kF64s, "log1p($0)"},
    {kSin, kF32s, "sinf($0)", kPostfix, kFloat},
    {kSin, kF64s, "sin($0)"},
    {kCos, kF32s, "cosf($0)", kPostfix, kFloat},
    {kCos, kF64s, "cos($0)"},
    {kTan, kF32s, "tanf($0)", kPostfix, kFloat},
    {kTan, kF64s, "tan($0)"},
    {kAsin, kF32s, "asinf($0)", kPostfix, kFloat},
    {kAsin, kF64s, "asin($0)"},
    {kAcos, kF32s, "acosf($0)", kPostfix, kFloat},
    {kAcos, kF64s, "acos($0)"},
    {kAtan, kF32s, "atanf($0)", kPostfix, kFloat},
    {kAtan, kF64s, "atan($0)"},
    {kSinh, kF32s, "sinhf($0)", kPostfix, kFloat},
    {kSinh, kF64s, "sinh($0)"},
    {kCosh, kF32s, "coshf($0)", kPostfix, kFloat},
    {kCosh, kF64s, "cosh($0)"},
    {kTanh, kF32s, "tanhf($0)", kPostfix, kFloat},
    {kTanh, kF64s, "tanh($0)"},
    {kAsinh, kF32s, "asinhf($0)", kPostfix, kFloat},
    {kAsinh, kF64s, "asinh($0)"},
    {kAcosh, kF32s, "acoshf($0)", kPostfix, kFloat},
    {kAcosh, kF64s, "acosh($0)"},
    {kAtanh, kF32s, "atanhf($0)", kPostfix, kFloat},
    {kAtanh, kF64s, "atanh($0)"},
    {kErf, kF32s, "erff($0)", kPostfix, kFloat},
    {kErf, kF64s, "erf($0)"},
    {kErfc, kF32s, "erfcf($0)", kPostfix, kFloat},
    {kErfc, kF64s, "erfc($0)"},
    {kGamma, kF32s, "tgammaf($0)", kPostfix, kFloat},
    {kGamma, kF64s, "tgamma($0)"},
    {kLgamma, kF32s, "lgammaf($0)", kPostfix, kFloat},
    {kLgamma, kF64s, "lgamma($0)"},
    {kFloor, kF32s, "floorf($0)", kPostfix, kFloat},
    {kFloor, kF64s, "floor($0)"},
    {kCeil, kF32s, "ceilf($0)", kPostfix, kFloat},
    {kCeil, kF64s, "ceil($0)"},
    {kTrunc, kF32s, "truncf($0)", kPostfix, kFloat},
    {kTrunc, kF64s, "trunc($0)"},
    {kRint, kF32s, "rintf($0)", kPostfix, kFloat},
    {kRint, kF64s, "rint($0)"},
    {kAtan2, kF32s, "atan2f($0, $1)", kPostfix, kFloat},
    {kAtan2, kF64s, "atan2($0, $1)"},
    {kHypot, kF32s, "hypotf($0, $1)", kPostfix, kFloat},
    {kHypot, kF64s, "hypot_f64($0, $1)"},
    {kPow, kF32s, "powf($0, $1)", kPostfix, kFloat},
    {kPow, kF64s, "pow($0, $1)"},
    {kFmod, kF32s, "fmodf($0, $1)", kPostfix, kFloat},
    {kFmod, kF64s, "fmod($0, $1)"},
    {kCopysign, kF32s, "copysignf($0, $1)", kPostfix, kFloat},
    {kCopysign, kF64s, "copysign($0, $1)"},
    {kNextafter, set_of(ir::Scalar::kF16), "next_f16($0, $1)", kPostfix, kFloat},
    {kNextafter, set_of(ir::Scalar::kBF16), "next_bf16($0, $1)", kPostfix, kFloat},
    {kNextafter, kF32s, "nextafterf($0, $1)", kPostfix, kFloat},
    {kNextafter, kF64s, "nextafter($0, $1)"},
    {kFma, kF32s, "fmaf($0, $1, $2)", kPostfix, kFloat},
    {kFma, kF64s, "fma($0, $1, $2)"},
    {kAbs, kF32s, "fabsf($0)", kPostfix, kFloat},
    {kAbs, kF64s, "fabs($0)"},
    {kSignbit, kF32s, "(__float_as_int($0) < 0)", kPostfix},
    {kSignbit, kF64s, "(__double_as_longlong($0) < 0)", kPostfix},
    {kBits, kF64s, "__double_as_longlong($0)"},
    {kShuffleDown, kComplexes, "shuffle_down_complex($0, $1)"},
    {kShuffleXor, kComplexes, "shuffle_xor_complex($0, $1)"},
    {kShuffleDown, kHalves, "__shfl_down_sync(0xffffffffu, (float)$0, $1)", kPostfix, kFloat},
    {kShuffleXor, kHalves, "__shfl_xor_sync(0xffffffffu, (float)$0, $1)", kPostfix, kFloat},
    {kShuffleDown, kBools, "(bool)__shfl_down_sync(0xffffffffu, (int)$0, $1)", kUnary},
    {kShuffleXor, kBools, "(bool)__shfl_xor_sync(0xffffffffu, (int)$0, $1)", kUnary},
    {kShfl, kComplexes, "shfl_complex($0, $1, $2, $3)"},
    {kShflUp, kComplexes, "shfl_up_complex($0, $1, $2, $3)"},
    {kShflDown, kComplexes, "shfl_down_complex($0, $1, $2, $3)"},
    {kShflXor, kComplexes, "shfl_xor_complex($0, $1, $2, $3)"},
    {kShfl, kHalves, "__shfl_sync($1, (float)$0, $2, $3)", kPostfix, kFloat},
    {kShflUp, kHalves, "__shfl_up_sync($1, (float)$0, $2, $3)", kPostfix, kFloat},
    {kShflDown, kHalves, "__shfl_down_sync($1, (float)$0, $2, $3)", kPostfix, kFloat},
    {kShflXor, kHalves, "__shfl_xor_sync($1, (float)$0, $2, $3)", kPostfix, kFloat},
    {kShfl, kBools, "(bool)__shfl_sync($1, (int)$0, $2, $3)", kUnary},
    {kShflUp, kBools, "(bool)__shfl_up_sync($1, (int)$0, $2, $3)", kUnary},
    {kShflDown, kBools, "(bool)__shfl_down_sync($1, (int)$0, $2, $3)", kUnary},
    {kShflXor, kBools, "(bool)__shfl_xor_sync($1, (int)$0, $2, $3)", kUnary},
    {kShfl, kAll, "__shfl_sync($1, $0, $2, $3)", kPostfix, kPromoted},
    {kShflUp, kAll, "__shfl_up_sync($1, $0, $2, $3)", kPostfix, kPromoted},
    {kShflDown, kAll, "__shfl_down_sync($1, $0, $2, $3)", kPostfix, kPromoted},
    {kShflXor, kAll, "__shfl_xor_sync($1, $0, $2, $3)", kPostfix, kPromoted},
    {kBallot, kAll, "__ballot_sync($1, $0)"},
    {kVoteAll, kAll, "(bool)__all_sync($1, $0)", kUnary},
    {kVoteAny, kAll, "(bool)__any_sync($1, $0)", kUnary},
    {kMatchAny, kAll, "match_any(bits_of($0), $1)"},
    {kMatchAll, kAll, "match_all(bits_of($0), $1)"},
    {kActiveMask, kAll, "__activemask()"},
    {kSyncWarp, kAll, "__syncwarp($0)"},
    {kSyncCount, kAll, "__syncthreads_count($0)"},
    {kSyncAll, kAll, "(bool)__syncthreads_and($0)", kUnary},
    {kSyncAny, kAll, "(bool)__syncthreads_or($0)", kUnary},
    {kSleep, kAll, "__nanosleep($0)"},
    {kPopCount, set_of(Scalar::kI64, Scalar::kU64), "__popcll($0)"},
    {kPopCount, kAll, "__popc($0)"},
    {kLeadingZeros, set_of(Scalar::kI64, Scalar::kU64), "__clzll($0)"},
    {kLeadingZeros, kAll, "__clz($0)"},
    {kFirstSet, set_of(Scalar::kI64, Scalar::kU64), "__ffsll($0)"},
    {kFirstSet, kAll, "__ffs($0)"},
    {kReverse, set_of(Scalar::kI64), "(i64)__brevll($0)", kUnary},
    {kReverse, set_of(Scalar::kU64), "(u64)__brevll($0)", kUnary},
    {kReverse, set_of(Scalar::kI32), "(int)__brev($0)", kUnary},
    {kReverse, kAll, "__brev($0)"},
    {kRsqrt, kF32s, "rsqrtf($0)", kPostfix, kFloat},
    {kRsqrt, kF64s, "rsqrt($0)"},
    {kShuffleCluster, kAll, "shuffle_cluster($0, $1)"},
    {kShuffleDown, kAll, "__shfl_down_sync(0xffffffffu, $0, $1)", kPostfix, kPromoted},
    {kShuffleXor, kAll, "__shfl_xor_sync(0xffffffffu, $0, $1)", kPostfix, kPromoted},
};

constexpr Snippet kPrelude[] = {
#define SNIPPET(name, text) {name, text},
#include "dialects/prelude/cuda.inc"
};

// Our functions come first: they have names that CUDA's stand behind otherwise.
// clang-format off
constexpr Snippet kSettledPrelude[] = {
#include "dialects/prelude/math_f32.inc"
#include "dialects/prelude/math_f64.inc"
#include "dialects/prelude/cuda.inc"
#undef SNIPPET
};
// clang-format on

constexpr Scalar kAtomicAdds[] = {Scalar::kI32, Scalar::kU32, Scalar::kI64,
                                  Scalar::kU64, Scalar::kF32, Scalar::kF64};

constexpr Dialect kDialect{
    .name = "cuda",
    .types = {"bool", "i8", "i16", "int", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "float",
              "double", "c64", "c128"},
    .registers = {"(int)threadIdx.x", "(int)threadIdx.y", "(int)threadIdx.z", "(int)blockIdx.x",
                  "(int)blockIdx.y", "(int)blockIdx.z", "(int)blockDim.x", "(int)blockDim.y",
                  "(int)blockDim.z", "(int)gridDim.x", "(int)gridDim.y", "(int)gridDim.z",
                  "(int)(threadIdx.x & 31)", "(int)(threadIdx.x >> 5)", "warpSize",
                  "stack_pointer()", "stack_limit()"},
    .barriers = {"__syncwarp();", "__syncthreads();", "grid_barrier();", "__threadfence();",
                 "__threadfence_block();", "__threadfence_system();", "wait_for_stream();",
                 "end_group();", "wait_copies"},
    .operators = kOperators,
    .contracts = true,
    .wraps_by_helpers = true,
    .any_order = {},
    .prelude = kPrelude,
    .helper_qualifiers = "INLINE",
    .recursive_qualifiers = "static __device__",
    .leave = "leave_kernel();",
    .grid_barrier_or_leave = "grid_barrier_or_leave();",
    .shared_qualifier = "__shared__",
    .copied_qualifier = "__align__(16)",
    .hidden_value = "hidden",
    .recomputed = "recomputed",
    .independent_loop = "",
    .unrolled_loop = "#pragma unroll",
    .float_to_integer = "truncate<$t>($0)",
    .atomic_adds = kAtomicAdds,
    .preamble = "",
    .kernel_head = "extern \"C\" __global__ void $0(",
    .bounded_kernel_head = "extern \"C\" __global__ void __launch_bounds__($1) $0(",
    .cluster_head = "__cluster_dims__($0) ",
    .kernel_argument = "",
    .kernel_scalar = "$0",
    .array_qualifier = "",
    .kernel_parameters = "",
};

constexpr Dialect kSettledDialect = [] {
    Dialect dialect = kDialect;
    dialect.functions = kOwnFunctions;
    dialect.prelude = kSettledPrelude;
    return dialect;
}();

}  // namespace

const Dialect& cuda_dialect() {
    return kDialect;
}

const Dialect& settled_cuda_dialect() {
    return kSettledDialect;
}

}  // namespace parpy
