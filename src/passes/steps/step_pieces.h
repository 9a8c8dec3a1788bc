// What the steps of a loop do, cut into pieces: the statements of each innermost body with the
// loops around them, and these loops cut where a block of steps begins and where it ends.
//
//     for k in range(first, end):                  i in range(k + 1, end), j in range(k + 1, end)
//         for i in range(k + 1, n):                i in range(k + 1, end), j in range(end, n)
//             for j in range(k + 1, n):            i in range(end, n), j in range(k + 1, end)
//                 a[i, j] -= a[i, k] * a[k, j]     i in range(end, n), j in range(end, n)
//
// Loops are cut that walk along an axis of an array along which steps go as well.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/integers/index_math.h"
#include "ir/ir.h"

namespace parpy {

// A loop of a piece, as part of the one in the text.
struct PieceLoop {
    ir::For* whole = nullptr;
    ir::Expr* begin = nullptr;
    ir::Expr* end = nullptr;
    bool outside = false;  // it has no iterations in the block itself
};

struct StepPiece {
    std::vector<PieceLoop> loops;  // the outermost first
    ir::Body statements;           // with no loops; of several pieces the same ones
};

struct StepPieces {
    std::vector<StepPiece> pieces;  // as they follow each other in a step
    // Loops whose iterations must not conflict: pieces run for all of them, one after the other.
    std::vector<ir::For*> mixed;
    bool cut = false;  // a loop has several parts
};

// Scalars that stand for a block of the steps of `loop`: the first one, and where it ends.
struct StepBlock {
    ir::Var* first = nullptr;
    ir::Var* end = nullptr;
};

// Nothing where a step does more than compute elements in counted loops, or passes scalars on.
[[nodiscard]] std::optional<StepPieces> pieces_of(ir::Module& module, const ir::For& loop,
                                                  const StepBlock& block);

}  // namespace parpy
