// See choose_mapping.h.
#include "passes/mapped/choose_mapping.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/contract_loops.h"
#include "passes/cuda/contractions/contract_kernels.h"
#include "passes/legality/legality_text.h"
#include "passes/mapped/gpu_blocks.h"

namespace parpy {

using namespace ir;

namespace {

// Sizes that pragmas give: of a loop whose iterations are threads, of blocks around such loops.
void take_sizes(const Plan& plan) {
    for (const Choice& choice : plan.choices) {
        LoopMapping& mapping = choice.loop->mapping;
        const Pragma pragma = pragma_of(*choice.loop);
        bool holds_others = false;
        for (const Choice& other : plan.choices) {
            const bool inside =
                other.loop != choice.loop &&
                any_stmt(choice.loop->body, [&](const Stmt& s) { return &s == other.loop; });
            if (!inside) continue;
            holds_others = true;
            if (pragma.warps > 0) other.loop->mapping.threads = pragma.warps * kWarpSize;
        }
        if (holds_others || pragma.block == 0) continue;
        const bool alone = std::ranges::none_of(plan.choices, [&](const Choice& other) {
            return other.loop != choice.loop &&
                   any_stmt(other.loop->body, [&](const Stmt& s) { return &s == choice.loop; });
        });
        const std::int64_t size = std::min(pragma.block, kMaxThreadsPerBlock);
        if (alone) {
            mapping.threads_per_block = size;
        } else {
            mapping.threads = size;
        }
    }
}

// What the cost model of a target plans; whether that is any loop.
bool choose(PassContext& context, Plan (*planned)(ParallelLoops&)) {
    ParallelLoops loops(*context.module.entry_function(), context.options.deterministic);
    const Plan plan = planned(loops);
    for (const Choice& choice : plan.choices) {
        LoopMapping& mapping = choice.loop->mapping;
        mapping.threads = choice.request.threads;
        mapping.threads_per_block = choice.request.threads_per_block;
        mapping.reduce = choice.request.reduce;
        add_requirements(context.module, loops.accesses(), loops.facts(*choice.loop).conditions);
    }
    take_sizes(plan);
    return !plan.choices.empty();
}

}  // namespace

void choose_cpu_mapping(PassContext& context) {
    if (!choose(context, plan_cpu)) return;
    // A tile adds up products step by step: lanes have columns.
    for (For* loop : contracted_steps(context))
        loop->mapping = {};
}

void choose_cuda_mapping(PassContext& context) {
    if (!choose(context, plan_cuda)) return;
    for (For* loop : steps_of_kernels(context))
        loop->mapping = {};
    put_arrays_on_gpu(context.module);
}

void note_given_up(const Diagnostics& attempt, Diagnostics& out) {
    const auto obstacle = std::ranges::find(attempt.all(), Severity::kError, &Diagnostic::severity);
    if (out.has_errors() || obstacle == attempt.all().end()) return;
    out.performance(Code::kP313, obstacle->span,
                    "the automatic mode leaves the function sequential: " + obstacle->message);
}

}  // namespace parpy
