// See choose_mapping.h.
#include "passes/choose_mapping.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

bool contains_chosen(const Stmt& stmt) {
    bool found = false;
    for_each_stmt(stmt, [&](const Stmt& inner) {
        const auto* loop = inner.as<For>();
        found = found || (loop != nullptr && loop->mapping.parallel());
    });
    return found;
}

bool uses_arrays(const Stmt& stmt) {
    const Uses uses = uses_of(stmt);
    return !uses.loaded.empty() || !uses.stored.empty();
}

// Neighbouring statements that use arrays, and what stands between them, in one Gpu block each.
class GpuBlocks {
public:
    explicit GpuBlocks(Module& module) : module_(module) {}

    void host_body(Body& stmts) {
        Body result;
        Body run;              // not yet known to end with a statement that uses arrays
        std::size_t used = 0;  // of `run`, up to the last one that does
        const auto flush = [&] {
            if (used > 0) {
                auto* gpu = module_.make<Gpu>(run.front()->span);
                gpu->body.assign(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(used));
                result.push_back(gpu);
            }
            result.insert(result.end(), run.begin() + static_cast<std::ptrdiff_t>(used), run.end());
            run.clear();
            used = 0;
        };
        for (Stmt* stmt : stmts) {
            const bool stays = stmt->kind == StmtKind::kAlloc || stmt->kind == StmtKind::kReturn ||
                               stmt->kind == StmtKind::kGpu || contains_chosen(*stmt);
            if (stays) {
                flush();
                const auto* loop = stmt->as<For>();
                if (stmt->kind != StmtKind::kGpu && (loop == nullptr || !loop->mapping.parallel()))
                    for_each_body(*stmt, [&](Body& inner) { host_body(inner); });
                result.push_back(stmt);
            } else if (uses_arrays(*stmt)) {
                run.push_back(stmt);
                used = run.size();
            } else if (run.empty()) {
                result.push_back(stmt);
            } else {
                run.push_back(stmt);
            }
        }
        flush();
        stmts = std::move(result);
    }

private:
    Module& module_;
};

}  // namespace

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
    if (on_gpu && !plan.choices.empty()) {
        GpuBlocks(context.module).host_body(context.module.entry_function()->body);
    }
}

}  // namespace parpy
