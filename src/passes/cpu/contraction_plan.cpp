// See contraction_plan.h. Measured on Zen 4 and Zen 5 (benchmarks/contractions.py).
#include "passes/cpu/contraction_plan.h"

#include <algorithm>
#include <cmath>

#include "analysis/geometry.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kFewest = 4;             // rows and columns of a tile that pays
constexpr std::int64_t kFewestProducts = 8;     // of a sum
constexpr std::int64_t kProductsAtOnce = 1024;  // whose partial sums need no memory
constexpr std::int64_t kProductsOfBlock = 320;  // of longer sums
constexpr std::int64_t kColumnsOfRow = 512;     // sums that stay in the first cache
constexpr std::int64_t kRowsOfBlock = 48;
constexpr std::int64_t kLeftsOfBlock = 196 << 10;  // bytes
constexpr std::int64_t kSumsOfBlock = 144 << 10;   // bytes
constexpr std::int64_t kColumnsAtOnce = 12 << 10;  // bytes of a row of sums that need no memory
// Right factors that only few rows read are laid out block by block, a part of the steps at a time,
// unless they stay in a cache anyway.
constexpr double kRowsOfRights = 48;
constexpr double kCloseRights = 512 << 10;  // bytes
constexpr std::int64_t kStepsOfRights = 64;
constexpr std::int64_t kBytesOfRights = 128 << 10;  // of a block
constexpr double kRowsOfCopies = 512;  // from which on right factors are better laid out
constexpr std::int64_t kLeftsAtOnce = std::int64_t{64} << 20;  // bytes
// Numbers of blocks that a few cores share evenly, and many cores; in the latter case a block takes
// at least some ten microseconds.
constexpr double kBlocks = 16, kMostBlocks = 64, kProductsOfShare = 500'000;
constexpr std::int64_t kPanel = std::int64_t{16} << 20;  // bytes

std::int64_t rounded_up(std::int64_t value, std::int64_t to) {
    return (value + to - 1) / to * to;
}

// The overhead of a tile: surplus sums at the edges, and unused cycles.
double waste(const TileShape& tile, const ContractionSizes& sizes) {
    const auto padded = [](double size, std::int64_t by) {
        return std::ceil(size / static_cast<double>(by)) * static_cast<double>(by) / size;
    };
    double factor = 1;
    if (sizes.known_rows) factor *= padded(sizes.rows, tile.rows);
    if (sizes.known_columns) factor *= padded(sizes.columns, tile.columns());
    const auto sums = static_cast<double>(tile.rows * tile.vectors);
    const double loads = static_cast<double>(tile.rows + tile.vectors) / sums;
    // A fused multiply-add takes about four cycles, and two are in flight in each cycle.
    return factor * std::max(1.0, 10 / sums) * (1 + 0.1 * loads);
}

// The best tile, if a row of the contraction has `parts` rows of it.
TileShape best_tile(ContractionSizes sizes, std::int64_t parts, Scalar type,
                    const VectorUnit& unit) {
    sizes.rows *= static_cast<double>(parts);
    TileShape best;
    double least = 0;
    double narrow = 1;  // vectors that are not full
    for (std::int64_t lanes = unit.bytes / size_in_bytes(type); lanes > 1; lanes /= 2) {
        for (std::int64_t vectors = 1; vectors <= 4; ++vectors) {
            for (const std::int64_t rows : {4, 6, 8, 12, 14, 16, 24}) {
                if (rows * vectors + vectors + 1 > unit.registers) continue;
                const TileShape tile{rows, vectors, lanes};
                const double wasted = narrow * waste(tile, sizes);
                if (best.rows != 0 && wasted >= least) continue;
                best = tile;
                least = wasted;
            }
        }
        narrow *= 1.2;
    }
    return best;
}

}  // namespace

std::optional<ContractionPlan> plan_contraction(const Contraction& contraction,
                                                const ContractionSizes& sizes,
                                                const VectorUnit& vectors, std::string& reason) {
    const Scalar type = real_part_of(contraction.type);
    if (!contraction.algebra.adds() || contraction.condition != nullptr) {
        reason = "tiles can only add products, and without a condition";
        return std::nullopt;
    }
    if (type != Scalar::kF32 && type != Scalar::kF64) {
        reason = "tiles can only hold f32, f64, c64 or c128";
        return std::nullopt;
    }
    if (contraction.one_row && type != contraction.type) {
        reason = "a row of sums can only hold f32 or f64";
        return std::nullopt;
    }
    const auto few = [&](double size, std::int64_t fewest, const char* what) {
        if (size >= static_cast<double>(fewest)) return false;
        reason = std::string("there are too few ") + what;
        return true;
    };
    if ((!contraction.one_row && few(sizes.rows, kFewest, "rows")) ||
        few(sizes.columns, kFewest, "columns") || few(sizes.products, kFewestProducts, "steps")) {
        return std::nullopt;
    }
    ContractionPlan plan;
    if (contraction.one_row) {
        plan.fused = contraction.fused || vectors.fuses;
        plan.columns = kColumnsOfRow;
        if (sizes.known_columns && !sizes.serial) {
            const auto each = static_cast<std::int64_t>(std::ceil(sizes.columns / kBlocks));
            plan.columns = std::clamp(rounded_up(each, 32), kColumnsOfRow / 2, kColumnsOfRow);
        }
        return plan;
    }
    plan.parts = type == contraction.type ? 1 : 2;
    plan.tile = best_tile(sizes, plan.parts, type, vectors);
    plan.fused = contraction.fused || vectors.fuses;
    const std::int64_t size = size_in_bytes(type);

    if (plan.parts == 1) plan.direct = direct_lefts(contraction, plan.tile.rows);
    if (plan.parts == 1 && sizes.rows <= kRowsOfCopies && !contraction.copies_rights)
        plan.direct_rights = direct_rights(contraction, plan.tile.columns());
    auto all = constant_products(contraction);
    if (all) *all *= plan.parts;
    // Right factors of few rows are read once or twice: they stay in the cache of their reader.
    const double right_bytes = sizes.products * sizes.columns * static_cast<double>(size);
    plan.rights_of_block = plan.direct_rights.empty() && sizes.known_rows &&
                           sizes.rows <= kRowsOfRights && right_bytes > kCloseRights &&
                           contraction.outer.empty() && !contraction.copies_rights;
    if (plan.rights_of_block) {
        plan.products = kStepsOfRights;
    } else if (!all || *all > kProductsAtOnce) {
        const std::int64_t parts =
            all ? (*all + kProductsOfBlock - 1) / kProductsOfBlock : std::int64_t{1};
        plan.products = all ? (*all + parts - 1) / parts : kProductsOfBlock;
    }
    for (const ContractionSteps& steps : contraction.steps) {
        const std::int64_t most = plan.products.value_or(kProductsAtOnce);
        const auto& loops = steps.ranges.front().loops;
        // All innermost loops that fit run as a whole.
        std::int64_t inside = static_cast<std::int64_t>(steps.rights.size()) * plan.parts;
        std::size_t cut = loops.size() - 1;
        while (cut > 0) {
            const auto trips = constant_trips(contraction, *loops[cut]);
            if (!trips || inside * *trips > most) break;
            inside *= std::max<std::int64_t>(*trips, 1);
            --cut;
        }
        std::size_t run = 0;  // loops around it are not cut
        for (const auto* direct : {&plan.direct, &plan.direct_rights})
            run = std::max(run, direct->empty() ? 0 : (*direct)[plan.cuts.size()].run);
        for (; cut < run; ++cut)
            inside /= constant_trips(contraction, *loops[cut + 1]).value_or(1);
        plan.cuts.push_back({cut, std::max<std::int64_t>(most / inside, 1)});
    }

    const TileShape& tile = plan.tile;
    const std::int64_t tile_rows = plan.tile_rows();
    std::int64_t most_rows = kRowsOfBlock / plan.parts;
    if (plan.direct.empty() && !plan.products)
        most_rows = std::min(most_rows,
                             kLeftsOfBlock / size / plan.parts / std::max<std::int64_t>(*all, 1));
    plan.rows = std::max(most_rows / tile_rows, std::int64_t{1}) * tile_rows;
    std::int64_t row_of_sums =
        plan.products ? kSumsOfBlock / plan.rows / plan.parts : kColumnsAtOnce;
    if (plan.rights_of_block) row_of_sums = std::min(row_of_sums, kBytesOfRights / kStepsOfRights);
    plan.columns = std::max(row_of_sums / size / tile.columns(), std::int64_t{1}) * tile.columns();
    const auto divided = [](double size_of, std::int64_t block, std::int64_t unit, double wanted) {
        // Blocks of equal size, and at least this many.
        const double parts = std::max(std::ceil(size_of / static_cast<double>(block)), wanted);
        const auto each = static_cast<std::int64_t>(std::ceil(size_of / parts));
        return std::min(block, rounded_up(std::max<std::int64_t>(each, 1), unit));
    };
    const double blocks = sizes.serial ? 1 : kBlocks;
    if (plan.rights_of_block) {
        plan.rows = rounded_up(static_cast<std::int64_t>(sizes.rows), tile_rows);
    } else if (sizes.known_rows) {
        plan.rows = divided(sizes.rows, plan.rows, tile_rows, blocks / std::max(sizes.outer, 1.0));
    }
    const double row_blocks =
        std::ceil(sizes.rows / static_cast<double>(plan.rows)) * std::max(sizes.outer, 1.0);
    double column_blocks = blocks / row_blocks;
    if (!sizes.serial && !plan.direct.empty() && !plan.rights_of_block) {
        // Left factors that are read where they are need no layout for each block of columns.
        const double shares =
            sizes.rows * sizes.columns * sizes.products * sizes.outer / kProductsOfShare;
        column_blocks = std::ceil(std::clamp(shares, kBlocks, kMostBlocks) / row_blocks);
    }
    if (sizes.known_columns)
        plan.columns = divided(sizes.columns, plan.columns, tile.columns(), column_blocks);
    plan.panel_bytes = contraction.copies_rights || plan.rights_of_block ? 0 : kPanel;
    if (!plan.products && plan.parts == 1) plan.result = direct_result(contraction);
    const auto all_rows = constant_trips(contraction, *contraction.rows);
    const auto all_columns = constant_columns(contraction);
    plan.lefts_at_once = plan.direct.empty() && !plan.rights_of_block &&
                         contraction.outer.empty() && plan.products && all && all_rows &&
                         all_columns && *all_columns > plan.columns &&
                         *all_rows * plan.parts * *all * size <= kLeftsAtOnce;
    return plan;
}

}  // namespace parpy
