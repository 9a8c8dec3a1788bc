// See tile_time.h.
#include "passes/stencils/tile_time.h"

#include <algorithm>
#include <optional>

#include "analysis/memory/accesses.h"
#include "analysis/stencils/stencils.h"
#include "dialects/dialect.h"
#include "ir/visit.h"
#include "passes/stencils/stencil_bands.h"
#include "passes/stencils/stencil_kernel.h"
#include "passes/stencils/stencil_tile.h"
#include "passes/wanted.h"
#include "support/architecture.h"

namespace parpy {

using namespace ir;

namespace {

// PARPY_TIME_TILES: 0 disables the pass, 2 tiles every loop that can be tiled.
Wanted wanted() {
    return wanted_by("PARPY_TIME_TILES");
}

bool copies_in_kernels(const PassContext& context) {
    return kernel_dialect(context.options.backend).contracts &&
           compute_capability(context.options.cuda_arch) >= 80;
}

// The body of the function that directly contains `stmt`.
Body* body_around(Body& body, const Stmt* stmt, bool in_loop, bool& found_in_loop) {
    for (Stmt* each : body) {
        if (each == stmt) {
            found_in_loop = in_loop;
            return &body;
        }
        Body* result = nullptr;
        const bool repeats = each->kind == StmtKind::kFor || each->kind == StmtKind::kWhile;
        for_each_body(*each, [&](Body& inner) {
            if (result == nullptr)
                result = body_around(inner, stmt, in_loop || repeats, found_in_loop);
        });
        if (result != nullptr) return result;
    }
    return nullptr;
}

// A target's plan for a loop over time; without one, `reason` says why.
template <class Plan>
struct Decision {
    std::optional<Plan> plan;
    std::string reason;
};

// Whether the sweeps have the same bounds whenever the loop over time runs.
bool is_fixed(const Stencil& stencil) {
    return std::ranges::all_of(stencil.sweeps, [](const StencilSweep& sweep) {
        return std::ranges::all_of(sweep.loops, [](const For* loop) {
            return constant_integer(loop->begin) && constant_integer(loop->end);
        });
    });
}

// Moves allocations of known size from the statements to `out`.
void take_memory(Body& body, Body& out) {
    rewrite_stmts(body, [&](Stmt* stmt, Body& kept) {
        const auto* alloc = stmt->as<Alloc>();
        const bool known = alloc != nullptr && alloc->array->space == Space::kScratch &&
                           std::ranges::all_of(alloc->array->dims, [](const Dim& dim) {
                               return dim.extent.has_value() && dim.stride.has_value();
                           });
        (known ? out : kept).push_back(stmt);
    });
}

// Inserts the statements before the statement of the body that contains `stmt`.
void put_in_front(Body& body, const Stmt* stmt, const Body& code) {
    const auto at = std::ranges::find_if(body, [&](const Stmt* each) {
        bool found = each == stmt;
        for_each_stmt(*each, [&](const Stmt& inside) { found = found || &inside == stmt; });
        return found;
    });
    body.insert(at, code.begin(), code.end());
}

using Bands = Decision<StencilBands>;
Bands decide_bands(PassContext&, const Stencil& stencil, const Traffic& traffic) {
    Bands result;
    result.plan = plan_stencil_bands(stencil, traffic, wanted() == Wanted::kAlways, result.reason);
    return result;
}

using Tiles = Decision<StencilTile>;
Tiles decide_tiles(PassContext& context, const Stencil& stencil, const Traffic& traffic) {
    bool in_loop = false;
    body_around(context.module.entry_function()->body, stencil.time, false, in_loop);
    if (!copies_in_kernels(context))
        return {std::nullopt, "this GPU does not copy to shared memory while it computes"};
    if (in_loop && !is_fixed(stencil))
        return {std::nullopt, "a surrounding loop would allocate memory in each iteration"};
    Tiles result;
    result.plan = plan_stencil_tile(stencil, traffic, wanted() == Wanted::kAlways, result.reason);
    return result;
}

void insert_bands(Module& module, const Stencil& stencil, const StencilBands& bands) {
    const Body code = band_code(module, stencil, bands);
    bool in_loop = false;
    Body& around = *body_around(module.entry_function()->body, stencil.time, false, in_loop);
    const auto at = around.erase(std::ranges::find(around, stencil.time));
    around.insert(at, code.begin(), code.end());
}

// Inserts the tiles before the loop, which keeps the last step.
void insert_tiles(Module& module, const Stencil& stencil, const StencilTile& tile) {
    Body code = StencilKernel(module, stencil, tile).run();
    Body& entry = module.entry_function()->body;
    bool in_loop = false;
    Body& around = *body_around(entry, stencil.time, false, in_loop);
    if (in_loop) {
        Body memory;
        take_memory(code, memory);
        put_in_front(entry, stencil.time, memory);
    }
    around.insert(std::ranges::find(around, stencil.time), code.begin(), code.end());
}

std::string shown(const Stencil& stencil, const StencilBands& bands) {
    return std::to_string(bands.steps) + " steps at a time, bands of " +
           std::to_string(bands.rows) + (stencil.rank == 1 ? " elements" : " rows");
}

std::string shown(const Stencil& stencil, const StencilTile& tile) {
    std::string result = std::to_string(tile.steps) + " steps at a time, tiles of ";
    if (stencil.rank == 2) result += std::to_string(tile.useful[0]) + " × ";
    return result + std::to_string(tile.useful[1]) + " elements";
}

void tile(PassContext& context, auto decide, auto insert) {
    if (wanted() == Wanted::kNever) return;
    const Function& entry = *context.module.entry_function();
    const Stencils all = find_stencils(*context.module.entry_function());
    if (all.found.empty()) return;
    const Accesses accesses(entry);
    const Traffic traffic(accesses);
    std::vector<decltype(decide(context, all.found.front(), traffic))> decisions;
    for (const Stencil& stencil : all.found)
        decisions.push_back(decide(context, stencil, traffic));
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        if (decisions[i].plan) insert(context.module, all.found[i], *decisions[i].plan);
    }
}

std::string note(PassContext& context, const Stencil& stencil, const Traffic& traffic,
                 auto decide) {
    if (wanted() == Wanted::kNever) return "no time tiles: PARPY_TIME_TILES=0";
    const auto decision = decide(context, stencil, traffic);
    if (!decision.plan) return "no time tiles: " + decision.reason;
    if (!context.options.automatic)
        return "no time tiles: a mapping by hand runs the loops as they are written";
    return "time tiles: " + shown(stencil, *decision.plan);
}

std::vector<TimeNote> notes(PassContext& context, auto decide) {
    std::vector<TimeNote> result;
    Function& entry = *context.module.entry_function();
    const Stencils all = find_stencils(entry);
    for (const NearStencil& missed : all.missed)
        result.push_back({missed.time, "no time tiles: " + missed.reason});
    if (all.found.empty()) return result;
    const Accesses accesses(entry);
    const Traffic traffic(accesses);
    for (const Stencil& stencil : all.found)
        result.push_back({stencil.time, note(context, stencil, traffic, decide)});
    return result;
}

}  // namespace

void tile_cpu_time(PassContext& context) {
    tile(context, decide_bands, insert_bands);
}

void tile_cuda_time(PassContext& context) {
    tile(context, decide_tiles, insert_tiles);
}

std::vector<TimeNote> cpu_time_notes(PassContext& context) {
    return notes(context, decide_bands);
}

std::vector<TimeNote> cuda_time_notes(PassContext& context) {
    return notes(context, decide_tiles);
}

}  // namespace parpy
