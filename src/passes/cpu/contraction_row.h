// Writes a contraction of one row (x @ A): a block of sums stays in cache while the rows of the
// matrix are read.
//
//     for block …: [workers]
//         sums[…] = initial values of the sums
//         for k in range(l): for j in block: sums[j] = fma(x[k], A[k, j], sums[j])
//         the statements that use the sums
#pragma once

#include "analysis/contractions/contractions.h"
#include "ir/ir.h"
#include "passes/cpu/contraction_code.h"
#include "passes/cpu/contraction_plan.h"

namespace parpy {

[[nodiscard]] ir::Body row_code(ir::Module& module, const Contraction& contraction,
                                const ContractionPlan& plan, const ContractionPlace& place);

}  // namespace parpy
