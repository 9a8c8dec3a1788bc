// See choose_mapping.h.
#include "passes/mapped/choose_mapping.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/contract_loops.h"
#include "passes/cuda/contractions/contract_kernels.h"
#include "passes/cuda/host/gpu_blocks.h"
#include "passes/cuda/host/scalar_blocks.h"
#include "passes/legality/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

bool is_inside(const For& inner, const For& outer) {
    return &inner != &outer && any_stmt(outer.body, [&](const Stmt& s) { return &s == &inner; });
}

// Applies block sizes of pragmas: the threads that run a loop, or those inside of a worker.
void take_sizes(const Plan& plan) {
    for (const Choice& choice : plan.choices) {
        const Pragma pragma = pragma_of(*choice.loop);
        bool has_others = false, in_others = false;
        for (const Choice& other : plan.choices) {
            in_others = in_others || is_inside(*choice.loop, *other.loop);
            if (!is_inside(*other.loop, *choice.loop)) continue;
            has_others = true;
            if (pragma.warps > 0) other.loop->mapping.threads = pragma.warps * kWarpSize;
        }
        if (has_others || pragma.block == 0) continue;
        LoopMapping& mapping = choice.loop->mapping;
        const bool spread = mapping.threads > kMaxThreadsPerBlock ||
                            mapping.threads_per_block != LoopPar::kDefaultThreadsPerBlock;
        const std::int64_t size = std::min(pragma.block, kMaxThreadsPerBlock);
        (in_others && !spread ? mapping.threads : mapping.threads_per_block) = size;
    }
}

// Maps all loops that pragmas declare parallel, whether or not it pays, for the search for races.
void map_pragmas(PassContext& context) {
    for_each_stmt(context.module.entry_function()->body, [](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop == nullptr || !pragma_of(*loop).spreads()) return;
        loop->mapping.threads = std::max<std::int64_t>(loop->mapping.threads, 2);
    });
}

// The loops in nests with pragmas, and those in them.
std::unordered_set<const For*> loops_of_pragmas(const Body& body) {
    std::unordered_set<const For*> found;
    for_each_stmt(body, [&](const Stmt& stmt) {
        if (!has_pragma(stmt)) return;
        for_each_stmt(stmt, [&](const Stmt& inner) {
            if (const auto* loop = inner.as<For>()) found.insert(loop);
        });
    });
    return found;
}

// The plan of a target's cost model, and the mapping of its loops; beside a mapping by hand only
// loops of pragmas are mapped.
Plan choose(PassContext& context, Plan (*planned)(ParallelLoops&)) {
    ParallelLoops loops(*context.module.entry_function(), context.options.deterministic);
    Plan plan = planned(loops);
    if (!context.options.automatic) {
        const auto wanted = loops_of_pragmas(context.module.entry_function()->body);
        std::erase_if(plan.choices,
                      [&](const Choice& choice) { return !wanted.contains(choice.loop); });
    }
    for (const Choice& choice : plan.choices) {
        LoopMapping& mapping = choice.loop->mapping;
        mapping.threads = choice.request.threads;
        mapping.threads_per_block = choice.request.threads_per_block;
        mapping.reduce = choice.request.reduce;
        add_requirements(context.module, loops.accesses(), loops.facts(*choice.loop).conditions);
    }
    return plan;
}

void put_in_blocks(Module& module, const Plan& plan) {
    rewrite_stmts(module.entry_function()->body, [&](Stmt* stmt, Body& out) {
        if (std::ranges::find(plan.in_one_block, stmt) == plan.in_one_block.end()) {
            out.push_back(stmt);
            return;
        }
        auto* gpu = module.make<Gpu>(stmt->span);
        gpu->body = {stmt};
        out.push_back(gpu);
    });
}

}  // namespace

void choose_cpu_mapping(PassContext& context) {
    const Plan plan = choose(context, plan_cpu);
    if (context.options.checks_races()) map_pragmas(context);
    if (plan.choices.empty()) return;
    // A tile adds up products step by step, and its lanes are columns.
    for (For* loop : contracted_steps(context))
        loop->mapping = {};
}

void choose_cuda_mapping(PassContext& context) {
    const Plan plan = choose(context, plan_cuda);
    if (plan.choices.empty()) return;
    take_sizes(plan);
    if (context.options.automatic) put_in_blocks(context.module, plan);
    for (For* loop : steps_of_kernels(context))
        loop->mapping = {};
    if (!context.options.automatic) return;
    put_arrays_on_gpu(context.module);
    put_scalars_on_gpu(context.module);
}

void note_given_up(const Diagnostics& attempt, Diagnostics& out) {
    const auto obstacle = std::ranges::find(attempt.all(), Severity::kError, &Diagnostic::severity);
    if (out.has_errors() || obstacle == attempt.all().end()) return;
    out.performance(Code::kP313, obstacle->span,
                    "the automatic mode leaves the function sequential: " + obstacle->message);
}

}  // namespace parpy
