// See atomic_updates.h.
#include "passes/atomic_updates.h"

#include <algorithm>

#include "analysis/scatters.h"
#include "analysis/updates.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// Each iteration has its own element: a subscript is the loop's variable, plus a constant.
bool separate(const Update& update, const For& loop) {
    return std::ranges::any_of(*update.indices, [&](const Expr* index) {
        return constant_offset(*index, *loop.var).has_value();
    });
}

bool is_reduced(const For& loop, const Update& update) {
    return std::ranges::any_of(loop.mapping.reductions, [&](const Reduction& r) {
        return r.var == update.var && same(r.indices, *update.indices);
    });
}

// Spares most loops the analysis.
bool may_scatter(For& loop) {
    return std::ranges::any_of(find_updates(loop.body), [&](const Update& update) {
        return update.indices != nullptr && !separate(update, loop) && !is_reduced(loop, update);
    });
}

// What is atomic need not be reduced by a loop inside.
void forget_reduction(For& loop, const Store& store) {
    const auto forget = [&](For& inner) {
        std::erase_if(inner.mapping.reductions, [&](const Reduction& r) {
            return r.var == store.array && same(r.indices, store.indices);
        });
        inner.mapping.reduce = !inner.mapping.reductions.empty();
    };
    forget(loop);
    for_each_stmt(loop.body, [&](Stmt& stmt) {
        if (auto* inner = stmt.as<For>()) forget(*inner);
    });
}

}  // namespace

void atomic_updates(PassContext& context) {
    // What the compiler chose itself is nobody's to trust.
    if (context.options.legality == Legality::kTrust && !context.options.automatic) return;
    Function& entry = *context.module.entry_function();
    std::vector<For*> loops;
    for_each_stmt(entry.body, [&](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop != nullptr && loop->mapping.parallel() && may_scatter(*loop))
            loops.push_back(loop);
    });
    if (loops.empty()) return;
    Dependences dependences(entry);
    std::vector<std::pair<For*, std::vector<Update>>> found;
    for (For* loop : loops) {
        const LoopFacts facts = dependences.of(*loop);
        if (facts.forgets_nan && context.options.legality == Legality::kStrict) continue;
        found.emplace_back(loop, scattered_updates(*loop, facts, context.options.deterministic));
    }
    for (const auto& [loop, updates] : found) {
        for (const Update& update : updates) {
            Stmt* stmt = spelled_as_update(context.module, update);
            *update.slot = stmt;
            auto& store = *stmt->as<Store>();
            store.atomic = true;
            forget_reduction(*loop, store);
        }
    }
}

}  // namespace parpy
