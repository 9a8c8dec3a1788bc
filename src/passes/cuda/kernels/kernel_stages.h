// Groups the statements of a loop over blocks into kernels: an inner loop that spreads over several
// blocks, and the statements before and behind it that can join it. Part of split_kernels.
//
// Before: every block computes the scalars for itself. Behind, if the blocks combine the parts of a
// reduction: the block that does so goes on when all others are done.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace parpy {

struct KernelStage {
    ir::Body before;
    ir::For* spread = nullptr;  // null: nothing of the stage spreads over blocks
    ir::Body after;

    [[nodiscard]] ir::Body body() const;
    bool combines = false;  // the blocks of `spread` put parts of a reduction together
};

// `pieces`: the statements of the innermost of `around` (loops over blocks, outermost first), a
// loop that spreads being a piece of its own.
[[nodiscard]] std::vector<KernelStage> kernel_stages(const std::vector<ir::Body>& pieces,
                                                     const std::vector<const ir::For*>& around);

}  // namespace parpy
