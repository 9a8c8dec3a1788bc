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
#include "support/architecture.h"
#include "support/environment.h"

namespace parpy {

using namespace ir;

namespace {

// PARPY_TIME_TILES: 0 leaves all loops as they are, 2 computes in tiles whatever can be.
enum class Wanted : std::uint8_t { kNever, kWhereFaster, kAlways };
Wanted wanted() {
    const std::uint64_t value = environment_number("PARPY_TIME_TILES").value_or(1);
    return value == 0 ? Wanted::kNever : value == 2 ? Wanted::kAlways : Wanted::kWhereFaster;
}

bool copies_in_kernels(const PassContext& context) {
    return kernel_dialect(context.options.backend).contracts &&
           compute_capability(context.options.cuda_arch) >= 80;
}

// The body that `stmt` stands in, of all of the function's.
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

struct Decision {
    std::optional<StencilTile> tile;    // on a GPU
    std::optional<StencilBands> bands;  // on a CPU
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

// Takes the memory that the statements ask for out of them, if its size is known.
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

// Puts the statements in front of that one of the body in which `stmt` is.
void put_in_front(Body& body, const Stmt* stmt, const Body& code) {
    const auto at = std::ranges::find_if(body, [&](const Stmt* each) {
        bool found = each == stmt;
        for_each_stmt(*each, [&](const Stmt& inside) { found = found || &inside == stmt; });
        return found;
    });
    body.insert(at, code.begin(), code.end());
}

Decision decide(PassContext& context, const Stencil& stencil, const Traffic& traffic) {
    Decision result;
    const bool always = wanted() == Wanted::kAlways;
    bool in_loop = false;
    body_around(context.module.entry_function()->body, stencil.time, false, in_loop);
    if (wanted() == Wanted::kNever) {
        result.reason = "PARPY_TIME_TILES=0";
    } else if (context.options.backend == Backend::kCpu) {
        result.bands = plan_stencil_bands(stencil, traffic, always, result.reason);
    } else if (!copies_in_kernels(context)) {
        result.reason = "this GPU does not copy to shared memory while it computes";
    } else if (in_loop && !is_fixed(stencil)) {
        result.reason = "a loop around would take memory again and again";
    } else {
        result.tile = plan_stencil_tile(stencil, traffic, always, result.reason);
    }
    if (!context.options.automatic && result.reason.empty())
        return {std::nullopt, std::nullopt, "a mapping by hand runs the loops as they stand"};
    return result;
}

std::string shown(const Stencil& stencil, const Decision& decision) {
    if (decision.bands) {
        return "time tiles: " + std::to_string(decision.bands->steps) +
               " steps at a time, bands of " + std::to_string(decision.bands->rows) +
               (stencil.rank == 1 ? " elements" : " rows");
    }
    if (!decision.tile) return "no time tiles: " + decision.reason;
    const StencilTile& tile = *decision.tile;
    std::string result =
        "time tiles: " + std::to_string(tile.steps) + " steps at a time, tiles of ";
    if (stencil.rank == 2) result += std::to_string(tile.useful[0]) + " × ";
    return result + std::to_string(tile.useful[1]) + " elements";
}

}  // namespace

void tile_time(PassContext& context) {
    if (wanted() == Wanted::kNever) return;
    Function& entry = *context.module.entry_function();
    const Stencils all = find_stencils(entry);
    if (all.found.empty()) return;
    const Accesses accesses(entry);
    const Traffic traffic(accesses);
    std::vector<Decision> decisions;
    for (const Stencil& stencil : all.found)
        decisions.push_back(decide(context, stencil, traffic));
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        const Stencil& stencil = all.found[i];
        const Decision& decision = decisions[i];
        if (!decision.tile && !decision.bands) continue;
        Body code = decision.tile ? StencilKernel(context.module, stencil, *decision.tile).run()
                                  : band_code(context.module, stencil, *decision.bands);
        bool in_loop = false;
        Body& around = *body_around(entry.body, stencil.time, false, in_loop);
        if (in_loop && decision.tile) {
            Body memory;
            take_memory(code, memory);
            put_in_front(entry.body, stencil.time, memory);
        }
        auto at = std::ranges::find(around, stencil.time);
        if (decision.bands) at = around.erase(at);
        around.insert(at, code.begin(), code.end());
    }
}

std::vector<TimeNote> time_tile_notes(PassContext& context) {
    std::vector<TimeNote> result;
    Function& entry = *context.module.entry_function();
    const Stencils all = find_stencils(entry);
    for (const NearStencil& missed : all.missed)
        result.push_back({missed.time, "no time tiles: " + missed.reason});
    if (all.found.empty()) return result;
    const Accesses accesses(entry);
    const Traffic traffic(accesses);
    for (const Stencil& stencil : all.found) {
        result.push_back({stencil.time, shown(stencil, decide(context, stencil, traffic))});
    }
    return result;
}

}  // namespace parpy
