// See contraction_tile.h. The constants are those of an H100 or H200: the products that a
// multiprocessor adds in a nanosecond, a tile's share of that rate beside its loads, and the number
// of its blocks that keep a multiprocessor busy. Elements that all tiles read come from the L2
// cache.
#include "mapping/contraction_tile.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/geometry.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kProductsPerNs = 240;        // of f64 matrices
constexpr double kNarrowProductsPerNs = 190;  // of f32
constexpr double kCacheBytesPerNs = 5500;     // of the whole card
constexpr double kCostOfSomeRows = 3;         // a step that some rows add, in steps of all rows
// Below these sizes, threads that each have a sum or a few are as fast.
constexpr double kFewestRows = 16, kFewestSteps = 16, kFewestProducts = 1 << 18;

struct Candidate {
    KernelTile tile;
    double share;       // of the multiprocessor's products
    double to_be_busy;  // blocks
};

// clang-format off
constexpr Candidate kMatrices[] = {
    {{128, 128, 16, 3, 256, true, 64, 32}, 0.89, 1},
    {{128, 96, 16, 4, 256, true, 32, 48}, 0.90, 1},
    {{96, 128, 16, 4, 256, true, 48, 32}, 0.90, 1},
    {{96, 64, 16, 4, 128, true, 48, 32}, 0.81, 2},
    {{64, 64, 16, 4, 128, true, 32, 32}, 0.76, 2.5},
    {{32, 32, 32, 4, 128, true, 16, 16}, 0.51, 4},
};
constexpr Candidate kNumbers[] = {
    {{128, 128, 16, 3, 256, false, 8, 8}, 0.85, 1},
    {{128, 96, 16, 3, 256, false, 8, 6}, 0.80, 1},
    {{96, 128, 16, 3, 256, false, 6, 8}, 0.80, 1},
    {{128, 64, 16, 3, 128, false, 8, 8}, 0.80, 2},
    {{64, 64, 16, 3, 64, false, 8, 8}, 0.75, 3},
    {{32, 32, 16, 4, 64, false, 4, 4}, 0.50, 8},
};
// clang-format on

// `half`: the sums are those of a triangle. `varies`: rows have different steps, so that a tile has
// parts that only some of its rows add, which are slower.
double nanoseconds(const Candidate& candidate, const ContractionSizes& sizes, bool half,
                   bool varies, double per_ns, double size) {
    const auto rows = static_cast<double>(candidate.tile.rows),
               columns = static_cast<double>(candidate.tile.columns);
    const double across = std::ceil(sizes.rows / rows), down = std::ceil(sizes.columns / columns);
    const double tiles =
        (half ? across * (down + 1) / 2 : across * down) * std::max(sizes.outer, 1.0);
    const double of_one = std::ceil(tiles / static_cast<double>(kMultiprocessors));
    const double products = sizes.products + (varies ? kCostOfSomeRows * rows : 0);
    const double busy = std::max(of_one, candidate.to_be_busy) * rows * columns * products /
                        (per_ns * candidate.share);
    const double read = tiles * (rows + columns) * sizes.products * size / kCacheBytesPerNs;
    return std::max(busy, read);
}

// At least the shared memory of a tile with any layout of its factors.
std::int64_t most_shared_bytes(const KernelTile& tile, Scalar type) {
    return tile.stages * tile.products * (tile.rows + tile.columns + 8) * size_in_bytes(type);
}

// Whether the statements contain loops, which a thread runs for each row.
bool has_loops(const Body& body) {
    return any_stmt(body, [](const Stmt& stmt) { return stmt.kind == StmtKind::kFor; });
}

}  // namespace

std::optional<KernelTile> plan_kernel_tile(const Contraction& contraction,
                                           const ContractionSizes& sizes, std::int64_t shared_bytes,
                                           std::string& reason) {
    const Scalar type = contraction.type;
    const bool adds = contraction.algebra.adds();
    const bool matrices = adds && type == Scalar::kF64;
    if (type != Scalar::kF32 && type != Scalar::kF64 &&
        (adds || (type != Scalar::kI32 && type != Scalar::kI64))) {
        reason = adds ? "tiles of products can only hold f32 or f64"
                      : "tiles of minima and maxima can only hold f32, f64, i32 or i64";
        return std::nullopt;
    }
    const auto fails = [&](bool failed, const char* what) {
        if (failed) reason = what;
        return failed;
    };
    const double products =
        sizes.rows * sizes.columns * sizes.products * std::max(sizes.outer, 1.0);
    if (fails(contraction.one_row || sizes.rows < kFewestRows, "there are too few rows") ||
        fails(sizes.columns < kFewestRows, "there are too few columns") ||
        fails(sizes.products < kFewestSteps, "there are too few steps") ||
        fails(products < kFewestProducts, "there are too few products") ||
        fails(has_loops(contraction.before_row) || has_loops(contraction.behind_row),
              "a row has other loops beside the sums")) {
        return std::nullopt;
    }
    const bool varies = std::ranges::any_of(contraction.steps, &ContractionSteps::varies);
    std::optional<KernelTile> best;
    double least = 0;
    const std::span<const Candidate> all =
        matrices ? std::span<const Candidate>(kMatrices) : std::span<const Candidate>(kNumbers);
    for (const Candidate& candidate : all) {
        const bool fits = std::ranges::all_of(contraction.steps, [&](const ContractionSteps& s) {
            const auto each = static_cast<std::int64_t>(s.rights.size());
            return candidate.tile.products % each == 0;
        });
        if (!fits || most_shared_bytes(candidate.tile, type) > shared_bytes) continue;
        const double time = nanoseconds(candidate, sizes, contraction.is_triangle(), varies,
                                        matrices ? kProductsPerNs : kNarrowProductsPerNs,
                                        static_cast<double>(size_in_bytes(contraction.type)));
        if (best && time >= least) continue;
        best = candidate.tile;
        best->nanoseconds = least = time;
    }
    if (!best) reason = "an iteration adds too many products";
    return best;
}

}  // namespace parpy
