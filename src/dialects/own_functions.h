// The elementary functions that are ours: polynomials that stand in the text and give the same bits
// wherever they run (prelude/math_*.inc).
#pragma once

#include "dialects/dialect.h"

namespace parpy {

inline constexpr Spelling kOwnFunctions[] = {
    {ir::Op::kCbrt, kF32s, "cbrt_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kCbrt, kF64s, "cbrt_f64($0)"},
    {ir::Op::kExp, kF32s, "exp_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kExp, kF64s, "exp_f64($0)"},
    {ir::Op::kExp2, kF32s, "exp2_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kExp2, kF64s, "exp2_f64($0)"},
    {ir::Op::kExpm1, kF32s, "expm1_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kExpm1, kF64s, "expm1_f64($0)"},
    {ir::Op::kLog, kF32s, "log_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kLog, kF64s, "log_f64($0)"},
    {ir::Op::kLog2, kF32s, "log2_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kLog2, kF64s, "log2_f64($0)"},
    {ir::Op::kLog10, kF32s, "log10_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kLog10, kF64s, "log10_f64($0)"},
    {ir::Op::kLog1p, kF32s, "log1p_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kLog1p, kF64s, "log1p_f64($0)"},
    {ir::Op::kSin, kF32s, "sin_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kSin, kF64s, "sin_f64($0)"},
    {ir::Op::kCos, kF32s, "cos_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kCos, kF64s, "cos_f64($0)"},
    {ir::Op::kTan, kF32s, "tan_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kTan, kF64s, "tan_f64($0)"},
    {ir::Op::kAsin, kF32s, "asin_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAsin, kF64s, "asin_f64($0)"},
    {ir::Op::kAcos, kF32s, "acos_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAcos, kF64s, "acos_f64($0)"},
    {ir::Op::kAtan, kF32s, "atan_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAtan, kF64s, "atan_f64($0)"},
    {ir::Op::kSinh, kF32s, "sinh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kSinh, kF64s, "sinh_f64($0)"},
    {ir::Op::kCosh, kF32s, "cosh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kCosh, kF64s, "cosh_f64($0)"},
    {ir::Op::kTanh, kF32s, "tanh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kTanh, kF64s, "tanh_f64($0)"},
    {ir::Op::kAsinh, kF32s, "asinh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAsinh, kF64s, "asinh_f64($0)"},
    {ir::Op::kAcosh, kF32s, "acosh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAcosh, kF64s, "acosh_f64($0)"},
    {ir::Op::kAtanh, kF32s, "atanh_f32($0)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAtanh, kF64s, "atanh_f64($0)"},
    {ir::Op::kAtan2, kF32s, "atan2_f32($0, $1)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kAtan2, kF64s, "atan2_f64($0, $1)"},
    {ir::Op::kHypot, kF32s, "hypot_f32($0, $1)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kHypot, kF64s, "hypot_f64($0, $1)"},
    {ir::Op::kPow, kF32s, "pow_f32($0, $1)", Precedence::kPostfix, Yields::kFloat},
    {ir::Op::kPow, kF64s, "pow_f64($0, $1)"},
};

}  // namespace parpy
