// See choose_mapping.h.
#include "passes/choose_mapping.h"

#include <algorithm>

#include "mapping/plan.h"
#include "passes/gpu_blocks.h"
#include "passes/legality_text.h"

namespace parpy {

using namespace ir;

void choose_mapping(PassContext& context) {
    ParallelLoops loops(*context.module.entry_function(), context.options.deterministic);
    const bool on_gpu = context.options.backend != Backend::kCpu;
    const Plan plan = on_gpu ? plan_cuda(loops) : plan_cpu(loops);
    for (const Choice& choice : plan.choices) {
        LoopMapping& mapping = choice.loop->mapping;
        mapping.threads = choice.request.threads;
        mapping.threads_per_block = choice.request.threads_per_block;
        mapping.reduce = choice.request.reduce;
        add_requirements(context.module, loops.accesses(), loops.facts(*choice.loop).conditions);
    }
    if (on_gpu && !plan.choices.empty()) put_arrays_on_gpu(context.module);
}

void note_given_up(const Diagnostics& attempt, Diagnostics& out) {
    const auto obstacle = std::ranges::find(attempt.all(), Severity::kError, &Diagnostic::severity);
    if (out.has_errors() || obstacle == attempt.all().end()) return;
    out.performance(Code::kP313, obstacle->span,
                    "the automatic mode leaves the function sequential: " + obstacle->message);
}

}  // namespace parpy
