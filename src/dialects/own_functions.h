// The elementary functions with our own implementations: polynomials in the generated text, with
// the same bits on every back end (prelude/math_*.inc).
#pragma once

#include "dialects/dialect.h"

namespace parpy {

inline constexpr Spelling kOwnFunctions[] = {
    FLOATS(ir::Op::kCbrt, "cbrt_f32($0)", "cbrt_f64($0)"),
    FLOATS(ir::Op::kExp, "exp_f32($0)", "exp_f64($0)"),
    FLOATS(ir::Op::kExp2, "exp2_f32($0)", "exp2_f64($0)"),
    FLOATS(ir::Op::kExpm1, "expm1_f32($0)", "expm1_f64($0)"),
    FLOATS(ir::Op::kLog, "log_f32($0)", "log_f64($0)"),
    FLOATS(ir::Op::kLog2, "log2_f32($0)", "log2_f64($0)"),
    FLOATS(ir::Op::kLog10, "log10_f32($0)", "log10_f64($0)"),
    FLOATS(ir::Op::kLog1p, "log1p_f32($0)", "log1p_f64($0)"),
    FLOATS(ir::Op::kSin, "sin_f32($0)", "sin_f64($0)"),
    FLOATS(ir::Op::kCos, "cos_f32($0)", "cos_f64($0)"),
    FLOATS(ir::Op::kTan, "tan_f32($0)", "tan_f64($0)"),
    FLOATS(ir::Op::kAsin, "asin_f32($0)", "asin_f64($0)"),
    FLOATS(ir::Op::kAcos, "acos_f32($0)", "acos_f64($0)"),
    FLOATS(ir::Op::kAtan, "atan_f32($0)", "atan_f64($0)"),
    FLOATS(ir::Op::kSinh, "sinh_f32($0)", "sinh_f64($0)"),
    FLOATS(ir::Op::kCosh, "cosh_f32($0)", "cosh_f64($0)"),
    FLOATS(ir::Op::kTanh, "tanh_f32($0)", "tanh_f64($0)"),
    FLOATS(ir::Op::kAsinh, "asinh_f32($0)", "asinh_f64($0)"),
    FLOATS(ir::Op::kAcosh, "acosh_f32($0)", "acosh_f64($0)"),
    FLOATS(ir::Op::kAtanh, "atanh_f32($0)", "atanh_f64($0)"),
    FLOATS(ir::Op::kAtan2, "atan2_f32($0, $1)", "atan2_f64($0, $1)"),
    FLOATS(ir::Op::kHypot, "hypot_f32($0, $1)", "hypot_f64($0, $1)"),
    FLOATS(ir::Op::kPow, "pow_f32($0, $1)", "pow_f64($0, $1)"),
};

}  // namespace parpy
