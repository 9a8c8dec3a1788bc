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
    ir::TileShape tile;  // none of a row (Contraction::one_row), which is `columns` sums at a time
    bool fused = true;   // products are fused into the additions
    // Numbers of a value. For a complex one a tile has two rows, and makes two steps: for (a + bi)
    // times (c + di), a and b of them add a c, b c, and then -b d, a d.
    std::int64_t parts = 1;
    [[nodiscard]] std::int64_t tile_rows() const { return tile.rows / parts; }
    // For a block, which one worker computes: multiples of the tile's.
    std::int64_t rows = 0, columns = 0;
    // For all steps at once, or of so many products (of parts): partial sums of a block stay in
    // memory then.
    std::optional<std::int64_t> products;
    // By loops of steps (ContractionSteps): which loop is cut into blocks, into so many iterations.
    struct Cut {
        std::size_t loop = 0;
        std::int64_t iterations = 0;
    };
    std::vector<Cut> cuts;
    // Left factors that tiles read where they are, by ContractionSteps; none: they are laid out.
    // From the loop `run` on the steps of a row lie at one distance.
    struct Direct {
        std::size_t run = 0;
        std::int64_t row = 0, step = 0;  // elements from one to the next
    };
    std::vector<Direct> direct;
    // Right factors likewise; none: they are laid out.
    std::vector<Direct> direct_rights;
    // Where nothing else happens to them, sums of full tiles are what they are stored to.
    struct Result {
        const ir::Store* store = nullptr;  // of a scalar sum
        std::int64_t row = 0;              // elements from one to the next
        bool anew = false;                 // sums begin at zero
    };
    std::optional<Result> result;
    bool rights_of_block = false;  // a block lays out its own, a part of the steps at a time
    bool lefts_at_once = false;    // they are laid out for all rows at a time, not block by block
    // Bytes of right factors that are laid out at a time; 0: all.
    std::int64_t panel_bytes = 0;
};

// `reason` says why loops are better, if there is no plan.
[[nodiscard]] std::optional<ContractionPlan> plan_contraction(const Contraction& contraction,
                                                              const ContractionSizes& sizes,
                                                              const VectorUnit& vectors,
                                                              std::string& reason);

// Left factors of all steps that may be read where they are: elements of arrays of the sums' type,
// at constant distances, the steps side by side; whole tiles of rows that the nest reads, too.
[[nodiscard]] std::vector<ContractionPlan::Direct> direct_lefts(const Contraction& contraction,
                                                                std::int64_t tile_rows);

// The same of right factors, which lie side by side along the columns.
[[nodiscard]] std::vector<ContractionPlan::Direct> direct_rights(const Contraction& contraction,
                                                                 std::int64_t tile_columns);
[[nodiscard]] std::optional<ContractionPlan::Result> direct_result(const Contraction& contraction);

}  // namespace parpy
