// Whether one loop and what is in it are a contraction.
#pragma once

#include <optional>
#include <string>

#include "analysis/contractions/contractions.h"
#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

struct ContractionMatch {
    std::optional<Contraction> found;
    std::string reason;  // why there is none
    int progress = 0;    // how many questions were answered well before that; 0: nothing like it
};

// `liveness` is that of the function.
[[nodiscard]] ContractionMatch match_contraction(ir::Module& module, ir::For& top,
                                                 const Judge& judge, const Liveness& liveness,
                                                 bool deterministic, bool batches);

}  // namespace parpy
