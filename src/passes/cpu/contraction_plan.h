// How the CPU computes a contraction: the tile of sums that a core keeps in its registers, and the
// blocks of rows, columns and steps whose factors and sums stay in its caches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "analysis/contractions/sizes.h"
#include "ir/tile.h"
#include "parpy/options.h"

namespace parpy {

struct ContractionPlan {
    ir::TileShape tile;  // no rows (Contraction::one_row): `columns` sums at a time
    bool fused = true;   // products are fused into the additions
    // Real numbers of a value. A complex one has two: a tile has two rows for each row of the
    // contraction, and two steps: for (a + bi) times (c + di), a and b add a c, b c, and then -b d,
    // a d.
    std::int64_t parts = 1;
    [[nodiscard]] std::int64_t tile_rows() const { return tile.rows / parts; }
    // The size of a block, which one worker computes: multiples of the tile's.
    std::int64_t rows = 0, columns = 0;
    // The number of products (of parts) that a block adds at a time, between which its partial sums
    // are in memory; none: all steps at once.
    std::optional<std::int64_t> products;
    // One for each loop of steps (ContractionSteps): the loop that is cut into blocks of
    // `iterations`.
    struct Cut {
        std::size_t loop = 0;
        std::int64_t iterations = 0;
    };
    std::vector<Cut> cuts;
    // Left factors that tiles read where they are, by ContractionSteps; none: they are laid out.
    // The steps of a row in the loops from `run` on have one distance in memory.
    struct Direct {
        std::size_t run = 0;
        std::int64_t row = 0, step = 0;  // elements from one to the next
    };
    std::vector<Direct> direct;
    // Right factors likewise; none: they are laid out.
    std::vector<Direct> direct_rights;
    // The elements that serve as sums of full tiles, if no other statement uses the sums.
    struct Result {
        const ir::Store* store = nullptr;  // of a scalar sum
        std::int64_t row = 0;              // elements from one to the next
        bool anew = false;                 // sums begin at zero
    };
    std::optional<Result> result;
    bool rights_of_block = false;  // a block lays out its own factors, some of the steps at a time
    bool lefts_at_once = false;    // factors of all rows are laid out at once, not block by block
    // Bytes of right factors that are laid out at a time; 0: all of them.
    std::int64_t panel_bytes = 0;
};

// If there is no plan, `reason` says why loops are better.
[[nodiscard]] std::optional<ContractionPlan> plan_contraction(const Contraction& contraction,
                                                              const ContractionSizes& sizes,
                                                              const VectorUnit& vectors,
                                                              std::string& reason);

// Left factors of all steps that may be read where they are: elements of arrays of the sums' type,
// at constant distances, contiguous along the steps; the nest must read whole tiles of rows, too.
[[nodiscard]] std::vector<ContractionPlan::Direct> direct_lefts(const Contraction& contraction,
                                                                std::int64_t tile_rows);

// The same for right factors, which are contiguous along the columns.
[[nodiscard]] std::vector<ContractionPlan::Direct> direct_rights(const Contraction& contraction,
                                                                 std::int64_t tile_columns);
[[nodiscard]] std::optional<ContractionPlan::Result> direct_result(const Contraction& contraction);

}  // namespace parpy
