// The operands of a kTile, which adds sums of products to a tile of `rows` rows and `columns` =
// vectors * lanes columns, `lanes` of them to a vector:
//
//     tile(rows, vectors, lanes, fused, anew, sums[p], sums_row,
//          left[q], left_row, left_step, right[s], right_step, steps)
//
//     if anew: for r in range(rows): for c in range(columns): sums[p + r * sums_row + c] = 0
//     for k in range(steps): for r in range(rows): for c in range(columns):
//         sums[p + r * sums_row + c] +=
//             left[q + r * left_row + k * left_step] * right[s + k * right_step + c]
//
// Products are added to each element in the order of k. The three places are loads of elements of
// one type, f32 or f64, and refer to the memory from there on; without steps, the last two need
// not exist. All other operands are i64s; the sizes of the tile are constants, and so are `fused`
// (each product is fused into its addition) and `anew`, which are bools.
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

// Whether the operands of a kTile, kMma or kAligned satisfy the rules of verify.
[[nodiscard]] bool is_valid_tile(const Expr& tile);
// The same of a store that copies (Store::copied).
[[nodiscard]] bool copies_to_shared(const Store& store);

// A kMma adds the product of an f64 matrix of 16 rows and 4 steps and one of 4 steps and 8 columns
// to 16 × 8 sums. The threads of a warp hold them: with g = lane / 4 and q = lane % 4
//
//     mma(sums[p], a0, a1, b)
//
//     a0, a1: of rows g and g + 8, step q;    b: of column g, step q
//     sums[p], and the elements after it: row g, columns 2 q and 2 q + 1, then row g + 8
//
// Each sum is a chain of fused multiply-adds in the order of the steps. The place is an element of
// an array that is private to the thread.

}  // namespace parpy::ir
