// The steps of a loop, cut into pieces: the statements of each innermost body with the loops around
// them, and these loops cut where a block of steps begins and where it ends.
//
//     for k in range(first, end):                  i in range(k + 1, end), j in range(k + 1, end)
//         for i in range(k + 1, n):                i in range(k + 1, end), j in range(end, n)
//             for j in range(k + 1, n):            i in range(end, n), j in range(k + 1, end)
//                 a[i, j] -= a[i, k] * a[k, j]     i in range(end, n), j in range(end, n)
//
// Conditions that always or never hold in a piece are left out of it.
// A loop is cut if it walks along an axis of an array along which the steps walk as well.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/integers/index_math.h"
#include "ir/ir.h"

namespace parpy {

// A loop of a piece, as part of the loop in the text.
struct PieceLoop {
    ir::For* whole = nullptr;
    ir::Expr* begin = nullptr;
    ir::Expr* end = nullptr;
    // Whether it runs over the range of the block, over the rest, or over both.
    enum class Part : std::uint8_t { kWhole, kInside, kOutside } part = Part::kWhole;
    // A part outside on both sides of the block leaves out the values from `skipped` to `resumes`.
    ir::Expr* skipped = nullptr;
    ir::Expr* resumes = nullptr;
};

struct StepPiece {
    std::vector<PieceLoop> loops;  // the outermost first
    ir::Body statements;           // contain no loops; several pieces may have the same ones
};

struct StepPieces {
    std::vector<StepPiece> pieces;  // in their order in a step
    // Loops whose iterations must not conflict: pieces run for all of them, one after the other.
    std::vector<ir::For*> mixed;
    bool cut = false;  // a loop has several parts
};

// The scalars that bound a block of steps: `first` up to `end`, in either direction.
struct StepBlock {
    ir::Var* first = nullptr;
    ir::Var* end = nullptr;
};

// Nothing if a step does anything but compute elements in counted loops, or passes scalars on.
// `joined`: the parts of a loop on both sides of the block are one piece.
[[nodiscard]] std::optional<StepPieces> pieces_of(ir::Module& module, const ir::For& loop,
                                                  const StepBlock& block, bool joined);

}  // namespace parpy
