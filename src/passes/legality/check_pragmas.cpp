// See check_pragmas.h.
#include "passes/legality/check_pragmas.h"

#include <algorithm>

#include "analysis/memory/dependences.h"
#include "analysis/pragmas.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/legality/check_legality.h"
#include "passes/legality/legality_text.h"
#include "passes/mapped/atomic_updates.h"
#include "passes/mapped/infer_reductions.h"
#include "passes/mapped/map_loops.h"

namespace parpy {

using namespace ir;

namespace {

std::vector<For*> loops_of(Module& module) {
    std::vector<For*> loops;
    for_each_stmt(module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* loop = stmt.as<For>()) loops.push_back(loop);
    });
    return loops;
}

// Whether the pragma shares every variable that makes iterations depend on each other.
bool is_tied_by_shared(const LoopFacts& facts, const Pragma& pragma) {
    const auto shared = [&](const Var* var) {
        return std::ranges::find(pragma.shared, var->shown()) != pragma.shared.end();
    };
    return !(facts.carried_scalars.empty() && facts.last_values.empty()) &&
           std::ranges::all_of(facts.carried_scalars, shared) &&
           std::ranges::all_of(facts.last_values, shared);
}

// The array that makes iterations depend on each other, if the compiler allocated it for the values
// of one iteration; null if there is any other cause.
const Var* one_for_all(const LoopFacts& facts) {
    if (facts.verdict != Verdict::kRefuted || facts.dependences.empty() ||
        !facts.carried_scalars.empty() || !facts.last_values.empty()) {
        return nullptr;
    }
    const bool own = std::ranges::all_of(facts.dependences, [](const Dependence& d) {
        return d.source->array->space == Space::kScratch && d.sink->array->space == Space::kScratch;
    });
    return own ? facts.dependences.front().source->array : nullptr;
}

void tell_of_memory(Diagnostics& diagnostics, const For& loop, const Pragma& pragma,
                    const Var& array) {
    Diagnostic& note = diagnostics.warning(
        Code::kP313, pragma.span.valid() ? pragma.span : loop.span,
        "loop '" + loop.var->shown() + "' runs in order: there is memory for the array '" +
            array.shown() + "' of only one iteration");
    note.help = "store to a row of an array that is made before the loop";
}

void run_in_order(For& loop) {
    std::erase_if(loop.labels, is_pragma);
    loop.labels.emplace_back("pragma sequential");
}

// Under `deterministic` the order of updates shows, so that such loops keep it.
bool keeps_order(const LoopFacts& facts, const Options& options) {
    return options.deterministic && (facts.scatters || facts.verdict == Verdict::kUnknown);
}

}  // namespace

void check_pragmas(PassContext& context) {
    const std::vector<For*> loops = loops_of(context.module);
    if (std::ranges::none_of(loops, [](For* loop) { return pragma_of(*loop).spreads(); })) return;
    Module copy = clone(context.module);
    const std::vector<For*> judged = loops_of(copy);
    Dependences dependences(*context.module.entry_function());
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const Pragma pragma = pragma_of(*loops[i]);
        if (!pragma.spreads()) continue;
        const LoopFacts facts = dependences.of(*loops[i]);
        if (is_tied_by_shared(facts, pragma)) {
            run_in_order(*loops[i]);
        } else if (const Var* array = one_for_all(facts)) {
            tell_of_memory(context.diagnostics, *loops[i], pragma, *array);
            run_in_order(*loops[i]);
        } else if (!keeps_order(facts, context.options)) {
            judged[i]->mapping.threads = 2;
            if (context.options.legality != Legality::kTrust)
                add_requirements(context.module, dependences.accesses(), facts.conditions);
        }
    }
    Options by_hand = context.options;
    by_hand.automatic = false;
    Diagnostics found;
    PassContext in_copy{copy, by_hand, context.signature, found};
    for (auto* pass : {map_cpu_loops, infer_reductions, atomic_updates, check_legality}) {
        pass(in_copy);
        if (found.has_errors()) break;
    }
    for (const Diagnostic& each : found.all()) {
        const bool told = each.severity == Severity::kError || each.code == Code::kP403;
        if (told) context.diagnostics.report(each);
    }
}

}  // namespace parpy
