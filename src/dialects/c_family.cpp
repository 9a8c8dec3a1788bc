// The spellings common to all C-family targets: infix operators, and the helper snippets that are
// plain C++ on every target. A dialect's own rows precede them.

#include <algorithm>
#include <array>
#include <vector>

#include "dialects/dialect.h"

namespace parpy {
namespace {

using enum ir::Op;
using enum Precedence;
using enum Yields;

constexpr Scalars kArithmetic = kReals | kComplexes;

constexpr Scalars kF16s = set_of(ir::Scalar::kF16);
constexpr Scalars kWide = set_of(ir::Scalar::kI32, ir::Scalar::kI64);

constexpr Spelling kWrapping[] = {
    {kAdd, kWide, "wrap_add($0, $1)", kPostfix, kExact, When::kNotIndex},
    {kSub, kWide, "wrap_sub($0, $1)", kPostfix, kExact, When::kNotIndex},
    {kMul, kWide | set_of(ir::Scalar::kU16), "wrap_mul($0, $1)", kPostfix, kExact, When::kNotIndex},
    {kNeg, kWide, "wrap_neg($0)", kPostfix, kExact, When::kNotIndex},
};

constexpr Spelling kOperators[] = {
    // arithmetic; NumPy's bool + is or, bool * is and
    {kAdd, kBools, "$0 | $1", kBitwiseOr},
    {kMul, kBools, "$0 & $1", kBitwiseAnd},
    {kAdd, kArithmetic, "$0 + $1", kAdditive, kPromoted},
    {kSub, kArithmetic, "$0 - $1", kAdditive, kPromoted},
    {kMul, kArithmetic, "$0 * $1", kMultiplicative, kPromoted},
    {kDiv, kFloats | kComplexes, "$0 / $1", kMultiplicative, kPromoted},
    {kQuotient, kIntegers, "$0 / $1", kMultiplicative, kPromoted},
    {kRemainder, kIntegers, "$0 % $1", kMultiplicative, kPromoted},
    {kFloorDiv, kUnsigned, "$0 / $1", kMultiplicative, kPromoted, When::kSecondIsPositive},
    {kMod, kUnsigned, "$0 % $1", kMultiplicative, kPromoted, When::kSecondIsPositive},
    {kFloorDiv, kUnsigned, "div_unsigned($0, $1)"},
    {kMod, kUnsigned, "mod_unsigned($0, $1)"},
    {kFloorDiv, kSigned, "floor_div_pos($0, $1)", kPostfix, kExact, When::kSecondIsPositive},
    {kMod, kSigned, "floor_mod_pos($0, $1)", kPostfix, kExact, When::kSecondIsPositive},
    {kFloorDiv, kSigned, "floor_div($0, $1)"},
    {kMod, kSigned, "floor_mod($0, $1)"},
    {kFloorDiv, kF32s, "floor_div_f32($0, $1)", kPostfix, kFloat},
    {kMod, kF32s, "floor_mod_f32($0, $1)", kPostfix, kFloat},
    {kFloorDiv, kF64s, "floor_div_f64($0, $1)"},
    {kMod, kF64s, "floor_mod_f64($0, $1)"},
    {kPow, kIntegers, "square_int($0)", kPostfix, kExact, When::kSecondIsTwo},
    {kPow, kFloats | kComplexes, "square($0)", kPostfix, kExact, When::kSecondIsTwo},
    {kPow, kIntegers, "int_pow($0, $1)"},
    FLOATS(kSimplePower, "power_f32<$h>($0)", "power_f64<$h>($0)"),
    {kNeg, kArithmetic, "-$0", kUnary, kPromoted},
    {kPos, kAll, "$0", kAssignment, kExact},
    {kAbs, kBools | kUnsigned, "$0", kAssignment, kExact},
    {kAbs, kSigned, "abs_int($0)"},
    {kShl, kIntegers, "$0 << $1", kShift, kPromoted, When::kShiftInRange},
    {kShr, kIntegers, "$0 >> $1", kShift, kPromoted, When::kShiftInRange},
    {kShl, kIntegers, "shift_left($0, $1)"},
    {kShr, kIntegers, "shift_right($0, $1)"},
    {kBitAnd, kBools, "$0 & $1", kBitwiseAnd},
    {kBitOr, kBools, "$0 | $1", kBitwiseOr},
    {kBitXor, kBools, "$0 != $1", kEquality},
    {kInvert, kBools, "!$0", kUnary},
    {kBitAnd, kIntegers, "$0 & $1", kBitwiseAnd, kPromoted},
    {kBitOr, kIntegers, "$0 | $1", kBitwiseOr, kPromoted},
    {kBitXor, kIntegers, "$0 ^ $1", kBitwiseXor, kPromoted},
    {kInvert, kIntegers, "~$0", kUnary, kPromoted},
    // comparison and logic
    {kEq, kAll, "$0 == $1", kEquality},
    {kNe, kAll, "$0 != $1", kEquality},
    {kLt, kAll, "$0 < $1", kRelational},
    {kLe, kAll, "$0 <= $1", kRelational},
    {kGt, kAll, "$0 > $1", kRelational},
    {kGe, kAll, "$0 >= $1", kRelational},
    {kAnd, kAll, "$0 && $1", kLogicalAnd},
    {kOr, kAll, "$0 || $1", kLogicalOr},
    {kNot, kAll, "!$0", kUnary},
    {kSelect, kAll, "$0 ? $1 : $2", kTernary, kPromoted},
    // minimum and maximum
    {kMin, kAll, "min_py($0, $1)"},
    {kMax, kAll, "max_py($0, $1)"},
    {kMinimum, kF16s | kComplexes, "min_nan_first($0, $1)"},
    {kMaximum, kF16s | kComplexes, "max_nan_first($0, $1)"},
    {kFmin, kF16s | kComplexes, "min_num_first($0, $1)"},
    {kFmax, kF16s | kComplexes, "max_num_first($0, $1)"},
    {kMinimum, kFloats, "min_nan($0, $1)"},
    {kMaximum, kFloats, "max_nan($0, $1)"},
    {kFmin, kFloats, "min_num($0, $1)"},
    {kFmax, kFloats, "max_num($0, $1)"},
    {kMinimum, kAll, "min_py($0, $1)"},
    {kMaximum, kAll, "max_py($0, $1)"},
    {kFmin, kAll, "min_py($0, $1)"},
    {kFmax, kAll, "max_py($0, $1)"},
    // simple functions
    {kFloor, kBools | kIntegers, "$0", kAssignment, kExact},
    {kCeil, kBools | kIntegers, "$0", kAssignment, kExact},
    {kTrunc, kBools | kIntegers, "$0", kAssignment, kExact},
    {kRint, kBools | kIntegers, "$0", kAssignment, kExact},
    {kFmod, kIntegers, "int_fmod($0, $1)"},
    {kSign, kIntegers, "sign_int($0)"},
    {kSign, kFloats, "sign($0)"},
    {kSquare, kBools, "$0", kAssignment, kExact},
    {kSquare, kIntegers, "square_int($0)"},
    {kSquare, kFloats | kComplexes, "square($0)"},
    {kReciprocal, kF32s, "1.0f / $0", kMultiplicative, kFloat},
    {kReciprocal, kF64s, "1.0 / $0", kMultiplicative},
    {kReciprocal, kIntegers, "reciprocal_int($0)"},
    {kReciprocal, kComplexes, "reciprocal_complex($0)"},
    {kDegrees, kF32s, "$0 * 57.29577951308232f", kMultiplicative, kFloat},
    {kDegrees, kF64s, "$0 * 57.29577951308232", kMultiplicative},
    {kRadians, kF32s, "$0 * 0.017453292519943295f", kMultiplicative, kFloat},
    {kRadians, kF64s, "$0 * 0.017453292519943295", kMultiplicative},
    {kGcd, kIntegers, "gcd($0, $1)"},
    {kLcm, kIntegers, "lcm($0, $1)"},
    {kIsnan, kFloats, "is_nan($0)"},
    {kIsinf, kFloats, "is_inf($0)"},
    {kIsfinite, kFloats, "is_finite($0)"},
    {kIsnan, kBools | kIntegers, "false", kPostfix},
    {kIsinf, kBools | kIntegers, "false", kPostfix},
    {kIsfinite, kBools | kIntegers, "true", kPostfix},
    {kSignbit, kUnsigned | kBools, "false", kPostfix},
    {kSignbit, kSigned, "$0 < 0", kRelational},
    // complex
    {kReal, kComplexes, "$0.re", kPostfix},
    {kImag, kComplexes, "$0.im", kPostfix},
    {kReal, kAll, "$0", kAssignment, kExact},
    {kImag, kAll, "($t)0", kUnary},
    {kConj, kComplexes, "conj($0)"},
    {kConj, kAll, "$0", kAssignment, kExact},
    {kComplex, set_of(ir::Scalar::kF32), "c64{$0, $1}", kPostfix},
    {kComplex, kAll, "c128{$0, $1}", kPostfix},
    {kAbs, kComplexes, "abs_complex($0)"},
    {kSqrt, kComplexes, "sqrt_complex($0)"},
    {kExp, kComplexes, "exp_complex($0)"},
    {kExp2, kComplexes, "exp2_complex($0)"},
    {kExpm1, kComplexes, "expm1_complex($0)"},
    {kLog, kComplexes, "log_complex($0)"},
    {kLog2, kComplexes, "log2_complex($0)"},
    {kLog10, kComplexes, "log10_complex($0)"},
    {kLog1p, kComplexes, "log1p_complex($0)"},
    {kSign, kComplexes, "sign_complex($0)"},
    {kRint, kComplexes, "rint_complex($0)"},
    {kSin, kComplexes, "sin_complex($0)"},
    {kCos, kComplexes, "cos_complex($0)"},
    {kTan, kComplexes, "tan_complex($0)"},
    {kSinh, kComplexes, "sinh_complex($0)"},
    {kCosh, kComplexes, "cosh_complex($0)"},
    {kTanh, kComplexes, "tanh_complex($0)"},
    {kAsin, kComplexes, "asin_complex($0)"},
    {kAcos, kComplexes, "acos_complex($0)"},
    {kAtan, kComplexes, "atan_complex($0)"},
    {kAsinh, kComplexes, "asinh_complex($0)"},
    {kAcosh, kComplexes, "acosh_complex($0)"},
    {kAtanh, kComplexes, "atanh_complex($0)"},
    {kPow, kComplexes, "pow_complex($0, $1)"},
    {kIsnan, kComplexes, "isnan_complex($0)"},
    {kIsinf, kComplexes, "isinf_complex($0)"},
    {kIsfinite, kComplexes, "isfinite_complex($0)"},
};

constexpr Snippet kPrelude[] = {
#define SNIPPET(name, text) {name, text},
#include "dialects/prelude/complex.inc"
#include "dialects/prelude/floats.inc"
#include "dialects/prelude/integers.inc"
#include "dialects/prelude/math_complex.inc"
#undef SNIPPET
};

}  // namespace

std::span<const Spelling> wrapping_operators() {
    return kWrapping;
}

std::span<const Spelling> c_family_operators() {
    return kOperators;
}
std::span<const Snippet> c_family_prelude() {
    return kPrelude;
}

namespace {

struct Kernels {
    const Dialect& (*dialect)();
    const Dialect& (*settled)();
};

constexpr Kernels kKernels[] = {
#define BACKEND(enumerator, name, shown, runs, in_process, dialect, settled, ...) \
    {dialect, settled},
#include "support/backends.def"
#undef BACKEND
};

}  // namespace

std::string_view type_name(ir::Scalar scalar) {
    constexpr std::array<std::string_view, ir::kScalarCount> kNames = {
        "bool", "i8",  "i16",  "int",   "i64",    "u8",  "u16", "u32",
        "u64",  "f16", "bf16", "float", "double", "c64", "c128"};
    return kNames[static_cast<std::size_t>(scalar)];
}

std::span<const Dialect* const> all_dialects() {
    static const auto all = [] {
        std::vector<const Dialect*> found;
        for (const Kernels& kernels : kKernels) {
            if (std::ranges::find(found, &kernels.dialect()) == found.end())
                found.push_back(&kernels.dialect());
        }
        return found;
    }();
    return all;
}

const Dialect& kernel_dialect(Backend backend) {
    return kKernels[static_cast<std::size_t>(backend)].dialect();
}

const Dialect* device_dialect(Backend backend, bool settled) {
    if (text_of(backend) == Backend::kCpu) return nullptr;
    const Kernels& kernels = kKernels[static_cast<std::size_t>(backend)];
    return settled ? &kernels.settled() : &kernels.dialect();
}

}  // namespace parpy
