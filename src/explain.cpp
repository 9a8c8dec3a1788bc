// explain(): runs the pipeline until loops have their final form, queries the analyses that the
// passes use, then runs the rest and records the mapping of each loop.
#include "parpy/explain.h"

#include <algorithm>
#include <exception>
#include <map>
#include <unordered_map>

#include "analysis/accumulations.h"
#include "analysis/geometry.h"
#include "analysis/memory/dependences.h"
#include "analysis/memory/occurrence_text.h"
#include "analysis/pragmas.h"
#include "analysis/scatters.h"
#include "analysis/traffic.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/depth.h"
#include "ir/visit.h"
#include "passes/cpu/contract_loops.h"
#include "passes/cuda/contractions/contract_kernels.h"
#include "passes/mapped/choose_mapping.h"
#include "passes/mapped/flatten_loops.h"
#include "passes/pass.h"
#include "passes/stencils/tile_time.h"
#include "passes/steps/block_steps.h"
#include "passes/waves/skew_loops.h"
#include "support/deep_stack.h"

namespace parpy {

using namespace ir;

namespace {

constexpr const char* kVerdicts[] = {"proved", "reduction", "refuted", "unknown"};
constexpr const char* kLevels[] = {"sequential", "blocks", "threads", "workers", "vector"};

std::string verb(const Access& access) {
    return access.kind == Access::Kind::kRead ? "reads" : "writes";
}

std::string event(const Occurrence& o) {
    return iteration_text(o) + " " + verb(*o.access) + " " + element_text(o);
}

class Explainer {
public:
    Explainer(Module& module, const Options& options)
        : module_(module),
          options_(options),
          dependences_(*module.entry_function()),
          traffic_(dependences_.accesses()),
          keys_(mapping_keys(*module.entry_function())) {
        gpu_blocks_ = count_gpu_blocks();
    }

    // To be called before the loops are mapped.
    void facts(Explanation& out) {
        walk(module_.entry_function()->body, 0, -1, out);
        footprints(out);
    }

    // To be called after the loops are mapped.
    void mapping(Explanation& out) const {
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            const LoopMapping& m = loops_[i]->mapping;
            Explanation::Loop& loop = out.loops[i];
            loop.mapping = {m.threads, m.threads > 0 && m.reduce, m.threads_per_block};
            // Siblings of different sizes must request the same block size.
            if (m.threads <= m.threads_per_block)
                loop.mapping.threads_per_block = LoopPar::kDefaultThreadsPerBlock;
            loop.level = kLevels[static_cast<std::size_t>(m.level)];
        }
        out.gpu_code =
            std::ranges::any_of(loops_, [](const For* loop) { return loop->mapping.parallel(); }) &&
            count_gpu_blocks() > gpu_blocks_;
    }

    // To be called while kernels still have loops: how each kernel runs the loops of the table.
    [[nodiscard]] std::map<std::string, std::vector<Explanation::Placed>> in_kernels() const {
        std::map<std::string, std::vector<Explanation::Placed>> placed;
        for (const Function* function : module_.functions) {
            if (function->kind != FunctionKind::kKernel) continue;
            for_each_stmt(function->body, [&](const Stmt& stmt) {
                const auto* loop = stmt.as<For>();
                if (loop == nullptr) return;
                const auto found = std::ranges::find_if(loops_, [&](const For* each) {
                    return each == loop ||
                           (each->span == loop->span && each->var->shown() == loop->var->shown());
                });
                if (found == loops_.end()) return;
                const LoopMapping& m = loop->mapping;
                const bool spread = m.level == Level::kBlocks;
                placed[function->name].push_back({static_cast<std::size_t>(found - loops_.begin()),
                                                  kLevels[static_cast<std::size_t>(m.level)],
                                                  m.threads, spread ? m.threads : m.blocks});
            });
        }
        return placed;
    }

    // Copies notes of passes about loops to a field of the table.
    template <class Note>
    void notes(const std::vector<Note>& notes, std::string Explanation::Loop::* field,
               Explanation& out) const {
        for (const Note& note : notes) {
            const auto found = std::ranges::find(loops_, note.loop);
            if (found == loops_.end()) continue;
            out.loops[static_cast<std::size_t>(found - loops_.begin())].*field = note.text;
        }
    }

private:
    void walk(Body& body, int depth, int around, Explanation& out) {
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            const int number = loop != nullptr ? dependences_.accesses().loop_of(loop) : around;
            if (loop != nullptr) out.loops.push_back(described(*loop, depth));
            out.flops += operations(*stmt) * (around < 0 ? 1 : traffic_.runs(around));
            const bool branches = stmt->kind == StmtKind::kIf;
            const double before = out.flops;
            double most = 0.0;  // of the branches: only one of them runs
            for_each_body(*stmt, [&](Body& inner) {
                if (branches) out.flops = before;
                walk(inner, depth + (loop != nullptr ? 1 : 0), number, out);
                most = std::max(most, out.flops - before);
            });
            if (branches) out.flops = before + most;
        }
    }

    Explanation::Loop described(For& loop, int depth) {
        loops_.push_back(&loop);
        Explanation::Loop out;
        out.key = keys_.at(&loop);
        out.line = loop.span.line;
        out.text = source_line(module_.sources, loop.span);
        out.depth = depth;
        out.variable = loop.var->shown();
        out.first = constant_integer(loop.begin);
        out.step = constant_integer(loop.step);
        out.exact = constant_trip_count(loop).has_value();
        out.trips = traffic_.trips(loop);
        LoopFacts facts = dependences_.of(loop);
        if (options_.deterministic && only_sums_in_order(loop, facts)) {
            facts.verdict = Verdict::kReduction;
            facts.reason = "deterministic=True keeps the order of its sums";
            facts.decisive.reset();
        }
        out.verdict = kVerdicts[static_cast<std::size_t>(facts.verdict)];
        out.reason = facts.reason;
        out.atomic = (options_.legality != Legality::kTrust || options_.automatic) &&
                     !scattered_updates(loop, facts, options_.deterministic).empty();
        const bool conflicts = facts.verdict == Verdict::kRefuted || facts.scatters;
        if (conflicts && facts.decisive && facts.decisive->exact) {
            out.witness =
                event(facts.decisive->witness[0]) + ", " + event(facts.decisive->witness[1]);
        }
        return out;
    }

    // Whether accumulations whose order changes the bits are all that prevents running in parallel.
    static bool only_sums_in_order(For& loop, const LoopFacts& facts) {
        if (!accumulates_in_order(loop)) return false;
        if (facts.verdict == Verdict::kReduction) return true;
        const std::vector<Update> sums = accumulations_of(loop);
        const auto is_sum = [&](const Var* scalar) {
            return std::ranges::find(sums, scalar, &Update::var) != sums.end();
        };
        return facts.verdict == Verdict::kRefuted && facts.last_values.empty() &&
               std::ranges::all_of(facts.carried_scalars, is_sum) &&
               std::ranges::all_of(facts.dependences, &Dependence::commutes);
    }

    // The Gpu blocks that use arrays outside of mapped loops.
    [[nodiscard]] std::size_t count_gpu_blocks() const {
        std::size_t count = 0;
        for_each_stmt(module_.entry_function()->body, [&](const Stmt& stmt) {
            count += stmt.kind == StmtKind::kGpu && uses_arrays_outside(stmt);
        });
        return count;
    }

    static bool uses_arrays_outside(const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        if (loop != nullptr && loop->mapping.parallel()) return false;
        bool found = false;
        for_each_slot(stmt, [&](const Expr* slot) { found = found || uses_arrays(*slot); });
        for_each_body(stmt, [&](const Body& body) {
            for (const Stmt* inner : body)
                found = found || uses_arrays_outside(*inner);
        });
        return found || stmt.kind == StmtKind::kStore;
    }

    // The number of float operations of the statement itself in one execution.
    static double operations(const Stmt& stmt) {
        double count = 0;
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                const bool leaf = e.operands.empty() || e.op == Op::kLoad || e.op == Op::kConvert ||
                                  e.op == Op::kSelect || e.op == Op::kCall;
                if (leaf || !e.type.is_scalar()) return;
                if (is_float(e.type.scalar)) count += e.op == Op::kFma ? 2 : 1;
                if (is_complex(e.type.scalar)) count += e.op == Op::kMul ? 6 : 2;
            });
        });
        const auto* assign = stmt.as<Assign>();
        const auto* store = stmt.as<Store>();
        if (assign != nullptr && assign->update) count += is_float(assign->var->type.scalar);
        if (store != nullptr && store->update) count += is_float(store->array->type.scalar);
        return count;
    }

    // Per array, the boxes of elements that reads and writes may touch.
    void footprints(Explanation& out) const {
        const Accesses& accesses = dependences_.accesses();
        using Box = std::vector<Interval>;
        std::map<const Var*, std::pair<Box, Box>> boxes;
        std::vector<const Var*> order;
        for (const Access& access : accesses.all()) {
            const Var& array = *access.array;
            const auto [found, made] = boxes.try_emplace(&array);
            if (made) order.push_back(&array);
            Box box;
            for (std::size_t axis = 0; axis < array.dims.size(); ++axis) {
                const auto& extent = array.dims[axis].extent;
                Interval all{0, extent ? *extent - 1
                                       : static_cast<std::int64_t>(Traffic::kGuessedTrips) - 1};
                if (!all.empty() && !access.anywhere && axis < access.indices.size()) {
                    const Interval range = accesses.range(access.indices[axis]);
                    all.low = std::clamp(range.low, all.low, all.high);
                    all.high = std::clamp(range.high, all.low, all.high);
                }
                box.push_back(all);
            }
            if (access.kind != Access::Kind::kWrite) join(found->second.first, box);
            if (access.writes()) join(found->second.second, box);
        }
        for (const Var* array : order) {
            const auto& [read, written] = boxes.at(array);
            const double size = size_in_bytes(array->type.scalar);
            out.arrays.push_back({array->name, size * volume(read), size * volume(written)});
        }
    }

    static void join(std::vector<Interval>& into, const std::vector<Interval>& box) {
        if (into.empty()) into = box;
        for (std::size_t axis = 0; axis < box.size(); ++axis) {
            into[axis].low = std::min(into[axis].low, box[axis].low);
            into[axis].high = std::max(into[axis].high, box[axis].high);
        }
    }

    static double volume(const std::vector<Interval>& box) {
        double result = box.empty() ? 0 : 1;
        for (const Interval& side : box)
            result *= std::max(0.0, static_cast<double>(side.high - side.low) + 1);
        return result;
    }

    Module& module_;
    const Options& options_;
    Dependences dependences_;
    Traffic traffic_;
    const std::unordered_map<const For*, std::string> keys_;
    std::vector<For*> loops_;
    std::size_t gpu_blocks_ = 0;  // written by the user
};

std::vector<const Stmt*> loops_of(const Module& module) {
    std::vector<const Stmt*> loops;
    for_each_stmt(module.entry_function()->body, [&](const Stmt& stmt) {
        if (stmt.kind == StmtKind::kFor) loops.push_back(&stmt);
    });
    return loops;
}

// Names of arrays that the program makes and stores to.
std::vector<std::string> arrays_made(const Module& module) {
    const Body& body = module.entry_function()->body;
    const VarSet stored = uses_of(body).stored;
    std::vector<std::string> names;
    for_each_stmt(body, [&](const Stmt& stmt) {
        const auto* alloc = stmt.as<Alloc>();
        if (alloc != nullptr && stored.contains(alloc->array))
            names.push_back(alloc->array->shown());
    });
    return names;
}

void list_kernels(const Module& module, Explanation& out) {
    for_each_stmt(module.entry_function()->body, [&](const Stmt& stmt) {
        const auto* launch = stmt.as<Launch>();
        if (launch == nullptr || launch->iterations != nullptr) return;
        Explanation::Kernel kernel;
        kernel.name = launch->kernel->name;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Expr* size = launch->grid[axis];
            kernel.grid[axis] = size == nullptr ? 1 : constant_integer(size).value_or(0);
            kernel.cluster[axis] = launch->cluster[axis];
            kernel.block[axis] = block_extent(*launch, static_cast<int>(axis)).value_or(0);
        }
        out.kernels.push_back(std::move(kernel));
    });
}

Explanation explain_as(const Module& surface, const Signature& signature, const Options& options,
                       Diagnostics& diagnostics) {
    Explanation out;
    Module module = clone(surface);
    const std::span<const Pass> passes = pipeline(options.backend);
    const auto place = [&](std::string_view name) {
        const auto found = std::ranges::find(passes, name, &Pass::name);
        return static_cast<std::size_t>(found - passes.begin());
    };
    const std::size_t asked = place("check-pragmas"), ordered = place("block-steps"),
                      chosen = place("choose-mapping");
    Diagnostics early;  // errors are for the caller, notes are part of the explanation
    PassContext normal{module, options, signature, early};
    PassContext mapped{module, options, signature, out.diagnostics};
    std::vector<const Stmt*> as_written;
    std::vector<StepsNote> steps;
    std::vector<WavesNote> waves;
    bool refuted = false;  // by a false pragma
    const auto order = [&] {
        if (!run_passes(normal, passes.first(asked))) return false;
        refuted = !run_passes(mapped, passes.subspan(asked, 1));
        if (refuted) return true;
        if (!run_passes(normal, passes.subspan(asked + 1, ordered - asked - 1))) return false;
        as_written = loops_of(module);
        out.inlined = arrays_made(module);
        const auto steps_notes =
            passes[ordered].run == block_cpu_steps ? cpu_steps_notes : cuda_steps_notes;
        if (options.restructures()) steps = steps_notes(normal);
        const std::size_t skewed = std::min(place("skew-loops"), chosen);
        if (!run_passes(normal, passes.subspan(ordered, skewed - ordered))) return false;
        if (options.restructures() && skewed < chosen) waves = waves_notes(normal);
        if (!run_passes(normal, passes.subspan(skewed, chosen - skewed))) return false;
        for (const std::string& name : arrays_made(module)) {
            const auto stays = std::ranges::find(out.inlined, name);
            if (stays != out.inlined.end()) out.inlined.erase(stays);
        }
        return true;
    };
    const bool ordinary = order();
    for (const Diagnostic& each : early.all())
        (ordinary ? out.diagnostics : diagnostics).report(each);
    if (!ordinary) return out;
    if (refuted) {
        Explainer(module, options).facts(out);
        return out;
    }
    out.restructured = loops_of(module) != as_written;
    Explainer explainer(module, options);
    explainer.facts(out);
    explainer.notes(steps, &Explanation::Loop::steps, out);
    explainer.notes(waves, &Explanation::Loop::waves, out);
    const std::size_t judged = place("check-legality") + 1;
    const bool legal = run_passes(mapped, passes.subspan(chosen, judged - chosen));
    explainer.mapping(out);
    if (!legal) return out;
    std::size_t next = judged;
    const auto notes = [&](std::string_view pass, auto* of_pass, auto field) {
        const std::size_t here = place(pass);
        if (here >= passes.size()) return true;
        if (!run_passes(mapped, passes.subspan(next, here - next))) return false;
        explainer.notes(of_pass(mapped), field, out);
        next = here;
        return true;
    };
    constexpr auto kContraction = &Explanation::Loop::contraction;
    const bool in_bands = passes[place("tile-time")].run == tile_cpu_time;
    const auto time_notes = in_bands ? cpu_time_notes : cuda_time_notes;
    if (!notes("tile-time", time_notes, &Explanation::Loop::time_tiles)) return out;
    if (!notes("contract-loops", contraction_notes, kContraction)) return out;
    if (options.automatic && !notes("contract-kernels", kernel_contraction_notes, kContraction))
        return out;
    if (options.automatic && !notes("flatten-loops", flat_notes, &Explanation::Loop::flattened))
        return out;
    const std::size_t outlined = std::min(place("outline-kernels") + 1, passes.size());
    if (!run_passes(mapped, passes.subspan(next, outlined - next))) return out;
    auto placed = explainer.in_kernels();
    if (!run_passes(mapped, passes.subspan(outlined))) return out;
    list_kernels(module, out);
    for (Explanation::Kernel& kernel : out.kernels)
        kernel.loops = std::move(placed[kernel.name]);
    return out;
}

// Explains on the caller's stack.
Explanation explain_here(const Module& surface, const Signature& signature, const Options& given,
                         Diagnostics& diagnostics) {
    const Options options = with_pragmas(surface, given);
    if (!options.automatic) return explain_as(surface, signature, options, diagnostics);
    Diagnostics early;
    Explanation out = explain_as(surface, signature, options, early);
    if (!early.has_errors() && !out.diagnostics.has_errors()) return out;
    // The automatic mapping cannot be carried out: go without it, as compile() does.
    Options sequential = options;
    sequential.automatic = false;
    Explanation without = explain_as(surface, signature, sequential, diagnostics);
    note_given_up(early.has_errors() ? early : out.diagnostics, without.diagnostics);
    return without;
}

}  // namespace

Explanation explain(const Module& surface, const Signature& signature, const Options& options,
                    Diagnostics& diagnostics) {
    try {
        Explanation out;
        where_it_fits(nests_deeply(surface),
                      [&] { out = explain_here(surface, signature, options, diagnostics); });
        return out;
    } catch (const std::exception& e) {
        diagnostics.internal({}, std::string("the compiler failed: ") + e.what());
        return {};
    }
}

}  // namespace parpy
