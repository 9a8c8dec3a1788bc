// See stencil_tile.h. The constants are those of an H200, as measured.
#include "passes/stencils/stencil_tile.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analysis/geometry.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kClock = 1.8;       // of a multiprocessor, per nanosecond
constexpr double kLaunch = 2600;     // nanoseconds of a launch among others
constexpr double kAround = 15000;    // ... of memory for copies, and their two kernels
constexpr double kFewestSteps = 16;  // that pay a kernel of their own
constexpr double kLatency = 1500;    // ... of the first loads and last stores of a kernel
constexpr double kMemory = 4290;     // bytes per nanosecond
constexpr double kCache = 6050;      // ... of data that stay in the cache
constexpr double kCacheBytes = 50e6;
constexpr double kExchange = 100;           // clocks of an exchange between warps, or lanes
constexpr double kSharedBytes = 224 << 10;  // of a multiprocessor
constexpr double kRegisters = 65536;
constexpr double kMostRegisters = 250;  // of a thread
constexpr double kMostBytes = 4e9;      // of the copies in the GPU's memory
constexpr double kGain = 0.8;           // of the time without tiles
constexpr std::int64_t kStaticBytes = 48 << 10;
constexpr double kSingleLanes = 128, kDoubleLanes = 64;  // of a multiprocessor

struct Costs {
    double cells = 1, steps = 0;
    std::int64_t bytes = 8;
    double carried = 0, arrays = 0, exchanges = 0;
    double operations = 0;            // of an element in all sweeps of a step
    std::int64_t edge_rows = 0;       // that warps exchange in a step
    std::int64_t reach[2] = {0, 0};   // of one sweep at most
    std::int64_t margin[2] = {0, 0};  // of a step, both sides
    std::vector<double> extents;      // in the tile's order: rows, columns
    [[nodiscard]] double footprint() const { return cells * static_cast<double>(bytes) * arrays; }
    [[nodiscard]] double bandwidth() const { return footprint() > kCacheBytes ? kMemory : kCache; }
};

double plain_time(const Stencil& stencil, const Costs& costs, const Traffic& traffic) {
    double step = 0;
    for (const StencilSweep& s : stencil.sweeps) {
        double cells = 1;
        for (const StencilSweep::Axis& axis : s.axes)
            cells *= axis.loop != nullptr ? traffic.trips(*axis.loop) : 1;
        if (s.is_line()) cells = 0;
        std::unordered_set<const Var*> loaded;
        for (const StencilLoad& load : s.loads)
            loaded.insert(load.load->var);
        const double moved = static_cast<double>(loaded.size() + s.stored.size()) *
                             static_cast<double>(costs.bytes) * cells;
        step += std::max(kLaunch, moved / costs.bandwidth());
    }
    return step * costs.steps;
}

// The time if each warp has a tile: warps wait only for their own lanes.
double line_time(const Stencil& stencil, const Costs& costs, const StencilTile& tile) {
    const double tiles = std::ceil(costs.extents[1] / static_cast<double>(tile.useful[1]));
    const double each = std::ceil(tiles / (4 * static_cast<double>(kMultiprocessors)));
    const double lanes = costs.bytes == 8 ? kDoubleLanes : kSingleLanes;
    const double work =
        costs.operations * static_cast<double>(tile.columns) * 4 * kWarpSize / lanes;
    const double waits = kExchange * static_cast<double>(stencil.sweeps.size());
    const double step = std::max(work * each, work + waits) / kClock;
    const double launches = std::ceil(costs.steps / static_cast<double>(tile.steps));
    return launches * (kLaunch + kLatency) + costs.steps * step;
}

double plane_time(const Stencil& stencil, const Costs& costs, const StencilTile& tile) {
    const auto of = [](std::int64_t n) { return static_cast<double>(n); };
    const double tiles = std::ceil(costs.extents[0] / of(tile.useful[0])) *
                         std::ceil(costs.extents[1] / of(tile.useful[1]));
    const double rounds = std::ceil(tiles / of(tile.blocks * kMultiprocessors));
    const double cells = of(tile.all[0] * tile.all[1]), kept = of(tile.useful[0] * tile.useful[1]);
    const double lanes = costs.bytes == 8 ? kDoubleLanes : kSingleLanes;
    const double shuffles = 2 * of(tile.rows * tile.warps) * costs.exchanges * of(costs.bytes) / 4;
    const double step = cells * costs.operations / lanes + shuffles / 2;
    const double computes = of(tile.blocks * tile.steps) * step / kClock;
    const double moved = of(tile.blocks) * (cells + kept) * of(costs.bytes) * costs.carried;
    const double moves = moved / (costs.bandwidth() / of(kMultiprocessors));
    const double waits =
        of(tile.steps) * kExchange * of(static_cast<std::int64_t>(stencil.sweeps.size())) / kClock;
    const double round = std::max(computes, moves) + 0.25 * std::min(computes, moves) + waits;
    const double launches = std::ceil(costs.steps / of(tile.steps));
    return launches * (kLaunch + kLatency + rounds * round);
}

// Registers of a thread: its elements, a row of the next state, and elements of neighbours.
double registers(const Costs& costs, const StencilTile& tile) {
    const double words = static_cast<double>(costs.bytes) / 4;
    const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
    return words * (rows * columns * (costs.carried + 0.25) + 4 * columns) + 60;
}

// Computes the members that follow from a thread's elements; returns whether the tile is valid.
bool complete(const Stencil& stencil, const Costs& costs, StencilTile& tile) {
    tile.all[0] = stencil.rank == 1 ? 1 : tile.rows * tile.warps;
    tile.all[1] = kWarpSize * tile.columns;
    for (int k = 0; k < 2; ++k)
        tile.useful[k] = tile.all[k] - tile.steps * costs.margin[k];
    if (tile.useful[0] < 1 || tile.useful[1] < 1) return false;
    if (stencil.rank == 1) return true;
    return tile.useful[1] * costs.bytes % 16 == 0;
}

void consider(const StencilTile& tile, double nanoseconds, std::optional<StencilTile>& best) {
    if (best && best->nanoseconds <= nanoseconds) return;
    best = tile;
    best->nanoseconds = nanoseconds;
}

void search_lines(const Stencil& stencil, const Costs& costs, std::optional<StencilTile>& best) {
    for (const std::int64_t columns : {4, 8, 12, 16}) {
        if (costs.reach[1] > columns) continue;
        StencilTile tile;
        tile.columns = columns;
        tile.warps = 4;
        if (registers(costs, tile) > kMostRegisters / 2) continue;
        for (tile.steps = 1; complete(stencil, costs, tile); ++tile.steps)
            consider(tile, line_time(stencil, costs, tile), best);
    }
}

void search_planes(const Stencil& stencil, const Costs& costs, std::optional<StencilTile>& best) {
    constexpr std::int64_t kColumns = 4;
    if (costs.reach[1] > kColumns) return;
    for (const std::int64_t warps : {4, 8}) {
        for (std::int64_t rows = std::max<std::int64_t>(2, costs.reach[0]); rows <= 16; ++rows) {
            StencilTile tile;
            tile.rows = rows;
            tile.columns = kColumns;
            tile.warps = warps;
            const double used = registers(costs, tile);
            if (used > kMostRegisters) break;
            const auto threads = static_cast<double>(warps * kWarpSize);
            const auto edges = (alternates_edges(stencil) ? 2 : 1) * warps * costs.edge_rows *
                               kWarpSize * kColumns * costs.bytes;
            if (edges > kStaticBytes) break;
            const double staged = costs.carried * static_cast<double>(rows * kColumns) * threads *
                                  static_cast<double>(costs.bytes);
            const double fits = std::min(kRegisters / (used * threads),
                                         kSharedBytes / (staged + static_cast<double>(edges)));
            tile.blocks = std::min<std::int64_t>(4, static_cast<std::int64_t>(fits));
            if (tile.blocks < 1) break;
            for (tile.steps = 1; tile.steps <= 64; ++tile.steps) {
                if (complete(stencil, costs, tile))
                    consider(tile, plane_time(stencil, costs, tile), best);
            }
        }
    }
}

}  // namespace

std::int64_t element_bytes(const Stencil& stencil) {
    const Scalar type = stencil.arrays.front().array->type.scalar;
    for (const StencilArray& each : stencil.arrays) {
        if (each.array->type.scalar != type) return 0;
    }
    switch (type) {
        case Scalar::kF32:
        case Scalar::kI32:
        case Scalar::kU32:
            return 4;
        case Scalar::kF64:
        case Scalar::kI64:
        case Scalar::kU64:
            return 8;
        default:
            return 0;
    }
}

std::vector<double> stencil_extents(const Stencil& stencil, const Traffic& traffic) {
    std::vector<double> result(stencil.rank, 1);
    for (const StencilSweep& s : stencil.sweeps) {
        for (std::size_t k = 0; k < stencil.rank; ++k) {
            if (s.axes[k].loop != nullptr)
                result[k] = std::max(result[k], traffic.trips(*s.axes[k].loop));
        }
    }
    return result;
}

bool alternates_edges(const Stencil& stencil) {
    int certain = 0, all = 0;  // most tiles have no sweep along a line
    for (const StencilSweep& s : stencil.sweeps) {
        if (stencil.rank < 2 || s.below[0] + s.above[0] == 0) continue;
        ++all;
        certain += s.is_line() ? 0 : 1;
    }
    return all > 0 && certain < 2;
}

double stencil_operations(const StencilSweep& sweep) {
    double result = 0;
    for (const Stmt* stmt : *sweep.body) {
        const auto* store = stmt->as<Store>();
        if (store != nullptr && store->update) result += 1;
        const auto count = [&](const Expr& value) {
            for_each_expr(value, [&](const Expr& e) {
                if (e.op == Op::kLoad || e.operands.empty() || !e.type.is_scalar()) return;
                result += e.op == Op::kDiv || e.op == Op::kSqrt ? 16 : 1;
            });
        };
        if (store != nullptr) count(*store->value);
        if (const auto* assign = stmt->as<Assign>()) count(*assign->value);
    }
    // Subscripts are not counted, nor are loads.
    for (const Stmt* stmt : *sweep.body) {
        for_each_expr(*stmt, [&](const Expr& e) {
            if (e.op != Op::kLoad) return;
            for (const Expr* index : e.operands)
                for_each_expr(*index, [&](const Expr& i) { result -= i.operands.empty() ? 0 : 1; });
        });
    }
    return std::max(result, 1.0);
}

std::optional<StencilTile> plan_stencil_tile(const Stencil& stencil, const Traffic& traffic,
                                             bool always, std::string& reason) {
    if (stencil.rank > 2) {
        reason =
            "a tile of three dimensions and the elements around it that it reads do not fit in "
            "registers";
        return std::nullopt;
    }
    Costs costs;
    costs.bytes = element_bytes(stencil);
    if (costs.bytes == 0) {
        reason = "its arrays have several types, or one of another size than 4 or 8 bytes";
        return std::nullopt;
    }
    const std::vector<double> extents = stencil_extents(stencil, traffic);
    costs.extents = {stencil.rank == 2 ? extents[0] : 1, extents.back()};
    costs.cells = costs.extents[0] * costs.extents[1];
    costs.steps = traffic.trips(*stencil.time) - 1;
    costs.arrays = static_cast<double>(stencil.arrays.size());
    for (const StencilArray& each : stencil.arrays)
        costs.carried += each.carried ? 1 : 0;
    for (const StencilSweep& s : stencil.sweeps) {
        // A sweep along one line is a small part of the work.
        if (!s.is_line()) costs.operations += stencil_operations(s);
        std::unordered_set<const Var*> moved;
        for (const StencilLoad& load : s.loads) {
            if (!load.is_own()) moved.insert(load.load->var);
        }
        costs.exchanges += static_cast<double>(moved.size());
        for (std::size_t k = 0; k < stencil.rank; ++k) {
            const std::size_t axis = k + 2 - stencil.rank;
            costs.reach[axis] = std::max({costs.reach[axis], s.below[k], s.above[k]});
            costs.margin[axis] += s.below[k] + s.above[k];
        }
        if (stencil.rank == 2)
            costs.edge_rows += static_cast<std::int64_t>(moved.size()) * (s.below[0] + s.above[0]);
    }
    if (costs.steps < (always ? 1 : kFewestSteps)) {
        reason = "it has too few steps";
        return std::nullopt;
    }
    if (2 * costs.cells * static_cast<double>(costs.bytes) * costs.carried > kMostBytes) {
        reason = "copies of its arrays would take too much memory";
        return std::nullopt;
    }
    std::optional<StencilTile> best;
    if (stencil.rank == 1) {
        search_lines(stencil, costs, best);
    } else {
        search_planes(stencil, costs, best);
    }
    if (!best) {
        reason = "a step reads elements too far away for a tile";
        return std::nullopt;
    }
    best->plain = plain_time(stencil, costs, traffic);
    best->nanoseconds += kAround + 5 * costs.footprint() / costs.bandwidth();
    // More steps than the loop has would only widen the margins.
    best->steps = std::min(best->steps, static_cast<std::int64_t>(std::ceil(costs.steps)));
    if (!complete(stencil, costs, *best)) {
        reason = "it has too few steps";
        return std::nullopt;
    }
    if (!always && best->nanoseconds > kGain * best->plain) {
        reason = "a kernel for each nest is expected to be as fast";
        return std::nullopt;
    }
    return best;
}

}  // namespace parpy
