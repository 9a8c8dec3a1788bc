// Fixes the rounding of floating-point reductions in a deterministic program, before any pass
// chooses how the loops run. A product that is added up is fused into its addition; zeros of minima
// and maxima become positive, so that no result depends on the order of equal zeros.
//
//     before  for k …: s += a[k] * b[k]            after  for k …: s = fma(a[k], b[k], s)
//             for k …: s -= a[k] * b[k]                   for k …: s = fma(-a[k], b[k], s)
//             for k …: s += a * b + c * d                 for k …: s = fma(c, d, fma(a, b, s))
//             for k …: m = max(m, a[k])                   for k …: m max= a[k] + 0.0
//
// Products are fused where factors and target have one type, f32 or f64, and the text alone shows
// that iterations accumulate (analysis/accumulations.h): the memory of the arguments does not
// decide. Before and after: kLoops.
#pragma once

#include "passes/pass.h"

namespace parpy {

void settle_reductions(PassContext& context);

}  // namespace parpy
