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
    FLOATS(kSqrt, "sqrtf($0)", "sqrt($0)"),
    FLOATS(kCbrt, "cbrtf($0)", "cbrt($0)"),
    FLOATS(kExp, "expf($0)", "exp($0)"),
    FLOATS(kExp2, "exp2f($0)", "exp2($0)"),
    FLOATS(kExpm1, "expm1f($0)", "expm1($0)"),
    FLOATS(kLog, "logf($0)", "log($0)"),
    FLOATS(kLog2, "log2f($0)", "log2($0)"),
    FLOATS(kLog10, "log10f($0)", "log10($0)"),
    FLOATS(kLog1p, "log1pf($0)", "log1p($0)"),
    FLOATS(kSin, "sinf($0)", "sin($0)"),
    FLOATS(kCos, "cosf($0)", "cos($0)"),
    FLOATS(kTan, "tanf($0)", "tan($0)"),
    FLOATS(kAsin, "asinf($0)", "asin($0)"),
    FLOATS(kAcos, "acosf($0)", "acos($0)"),
    FLOATS(kAtan, "atanf($0)", "atan($0)"),
    FLOATS(kSinh, "sinhf($0)", "sinh($0)"),
    FLOATS(kCosh, "coshf($0)", "cosh($0)"),
    FLOATS(kTanh, "tanhf($0)", "tanh($0)"),
    FLOATS(kAsinh, "asinhf($0)", "asinh($0)"),
    FLOATS(kAcosh, "acoshf($0)", "acosh($0)"),
    FLOATS(kAtanh, "atanhf($0)", "atanh($0)"),
    FLOATS(kErf, "erff($0)", "erf($0)"),
    FLOATS(kErfc, "erfcf($0)", "erfc($0)"),
    FLOATS(kGamma, "tgammaf($0)", "tgamma($0)"),
    FLOATS(kLgamma, "lgammaf($0)", "lgamma($0)"),
    FLOATS(kFloor, "floorf($0)", "floor($0)"),
    FLOATS(kCeil, "ceilf($0)", "ceil($0)"),
    FLOATS(kTrunc, "truncf($0)", "trunc($0)"),
    FLOATS(kRint, "rintf($0)", "rint($0)"),
    FLOATS(kAtan2, "atan2f($0, $1)", "atan2($0, $1)"),
    FLOATS(kHypot, "hypotf($0, $1)", "hypot_f64($0, $1)"),
    FLOATS(kPow, "powf($0, $1)", "pow($0, $1)"),
    FLOATS(kFmod, "fmodf($0, $1)", "fmod($0, $1)"),
    FLOATS(kCopysign, "copysignf($0, $1)", "copysign($0, $1)"),
    {kNextafter, set_of(ir::Scalar::kF16), "next_f16($0, $1)", kPostfix, kFloat},
    {kNextafter, set_of(ir::Scalar::kBF16), "next_bf16($0, $1)", kPostfix, kFloat},
    FLOATS(kNextafter, "nextafterf($0, $1)", "nextafter($0, $1)"),
    FLOATS(kFma, "fmaf($0, $1, $2)", "fma($0, $1, $2)"),
    FLOATS(kAbs, "fabsf($0)", "fabs($0)"),
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
    FLOATS(kRsqrt, "rsqrtf($0)", "rsqrt($0)"),
    {kShuffleCluster, kAll, "shuffle_cluster($0, $1)"},
    {kShuffleDown, kAll, "__shfl_down_sync(0xffffffffu, $0, $1)", kPostfix, kPromoted},
    {kShuffleXor, kAll, "__shfl_xor_sync(0xffffffffu, $0, $1)", kPostfix, kPromoted},
};

constexpr Snippet kPrelude[] = {
#define SNIPPET(name, text) {name, text},
#include "dialects/prelude/cuda.inc"
};

// Our functions come first: they have names that otherwise stand for CUDA's functions.
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
    .prelude = kPrelude,
    .recursive_qualifiers = "static __device__",
    .leave = "leave_kernel();",
    .grid_barrier_or_leave = "grid_barrier_or_leave();",
    .shared_qualifier = "__shared__",
    .copied_qualifier = "__align__(16)",
    .hidden_value = "hidden",
    .recomputed = "recomputed",
    .unrolled_loop = "#pragma unroll",
    .atomic_adds = kAtomicAdds,
    .kernel_head = "extern \"C\" __global__ void $0(",
    .bounded_kernel_head = "extern \"C\" __global__ void __launch_bounds__($1) $0(",
    .cluster_head = "__cluster_dims__($0) ",
    .kernel_scalar = "$0",
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
