// The operands of a kTile, which adds sums of products to a tile of rows and columns, several
// columns to a vector:
//
//     tile(rows, vectors, lanes, fused, anew, sums[p], sums_row,
//          left[q], left_row, left_step, right[s], right_step, steps)
//
//     if anew: for r in range(rows): for c in range(vectors * lanes): sums[p + r * sums_row + c] =
//     0 for k in range(steps): for r in range(rows): for c in range(vectors * lanes):
//         sums[p + r * sums_row + c] +=
//             left[q + r * left_row + k * left_step] * right[s + k * right_step + c]
//
// Each element is added to in the order of k. The three places are loads of elements of one type,
// f32 or f64, and stand for what lies from there on in memory; where there are no steps, the last
// two need not exist. Everything else is an i64; the sizes of the tile are constants, and so are
// `fused` (each product is fused into its addition) and `anew`, which are bools.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/ir.h"

namespace parpy::ir {

enum TileOperand : std::size_t {
    kTileRows,
    kTileVectors,
    kTileLanes,
    kTileFused,
    kTileAnew,
    kTileSums,
    kTileSumsRow,
    kTileLeft,
    kTileLeftRow,
    kTileLeftStep,
    kTileRight,
    kTileRightStep,
    kTileSteps,
};

struct TileShape {
    std::int64_t rows = 0, vectors = 0, lanes = 0;
    [[nodiscard]] std::int64_t columns() const { return vectors * lanes; }
    friend bool operator==(const TileShape&, const TileShape&) = default;
};
[[nodiscard]] TileShape shape_of_tile(const Expr& tile);

// What verify asks of the operands.
[[nodiscard]] bool is_valid_tile(const Expr& tile);

}  // namespace parpy::ir
