// Writes a contraction of one row (x @ A): sums of so many columns stay close while the rows of the
// matrix pass by.
//
//     for block …: [workers]
//         sums[…] = what the sums begin with
//         for k in range(l): for j in block: sums[j] = fma(x[k], A[k, j], sums[j])
//         what becomes of the sums
#pragma once

#include "analysis/contractions/contractions.h"
#include "ir/ir.h"
#include "passes/cpu/contraction_code.h"
#include "passes/cpu/contraction_plan.h"

namespace parpy {

[[nodiscard]] ir::Body row_code(ir::Module& module, const Contraction& contraction,
                                const ContractionPlan& plan, const ContractionPlace& place);

}  // namespace parpy
