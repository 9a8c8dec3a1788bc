// Which loops walk down columns of arrays whose rows lie side by side in memory, and how their
// iterations come apart so that blocks of columns may take each step together (block_columns).
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"
#include "mapping/plan.h"

namespace parpy {

// A part of what an iteration does: statements that stay as they are, or a loop that goes around
// the columns of a block.
struct ColumnPart {
    ir::For* steps = nullptr;
    std::vector<ColumnPart> inside;  // of the loop
    ir::Body stmts;
};

// Whether the text of `loop` shows an inner loop with accesses that move with both loops, or that
// move with `loop` beside costly operations. The question costs little, and loops for which it is
// false have no parts.
[[nodiscard]] bool walks_down(const ir::For& loop);

// The parts of the iterations of `columns`, if its iterations are independent, or meet in scalars
// that are updated in one part of theirs, and if columns that take steps together move at most half
// of the bytes, or costly operations of a column wait for each other. One part has steps at least.
[[nodiscard]] std::optional<std::vector<ColumnPart>> column_parts(ParallelLoops& loops,
                                                                  ir::For& columns);

}  // namespace parpy
