// Whether one loop, with the statements in it, is a contraction.
#pragma once

#include <optional>
#include <string>

#include "analysis/contractions/contractions.h"
#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

struct ContractionMatch {
    std::optional<Contraction> found;
    std::string reason;  // why the loop is no contraction
    int progress = 0;    // how many tests it passed before; 0: it does not resemble one
};

// `liveness` is that of the function that contains `top`.
[[nodiscard]] ContractionMatch match_contraction(ir::Module& module, ir::For& top,
                                                 const Judge& judge, const Liveness& liveness,
                                                 bool deterministic, bool batches);

}  // namespace parpy
