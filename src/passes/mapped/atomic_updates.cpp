// See atomic_updates.h.
#include "passes/mapped/atomic_updates.h"

#include <algorithm>

#include "analysis/memory/sharing.h"
#include "analysis/scatters.h"
#include "analysis/updates.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// Whether each iteration has its own element: a subscript is the loop's variable plus a constant.
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

// Whether the elements of two updates belong to one iteration only: along one axis both subscripts
// are the loop's variable plus the same constant.
bool side_by_side(const Update& a, const Update& b, const For& loop) {
    if (a.var != b.var) return !may_share(*a.var, *b.var);
    for (std::size_t axis = 0; axis < a.indices->size(); ++axis) {
        const auto offset = constant_offset(*(*a.indices)[axis], *loop.var);
        if (offset && offset == constant_offset(*(*b.indices)[axis], *loop.var)) return true;
    }
    return false;
}

// A cheap test that spares most loops the analysis.
bool may_scatter(For& loop) {
    std::vector<Update> updates = find_updates(loop.body);
    if (find_updates_in_calls(loop.body).size() > updates.size()) return true;
    std::erase_if(updates, [&](const Update& u) { return u.indices == nullptr; });
    return std::ranges::any_of(updates, [&](const Update& update) {
        if (is_reduced(loop, update)) return false;
        return !separate(update, loop) || std::ranges::any_of(updates, [&](const Update& other) {
            return !side_by_side(update, other, loop);
        });
    });
}

// A loop inside need not reduce an atomic update.
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
    // legality='trust' does not cover loops that the compiler chose itself.
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
        const bool deterministic = context.options.deterministic;
        if (facts.verdict != Verdict::kUnknown) {
            found.emplace_back(loop, scattered_updates(*loop, facts, deterministic));
            continue;
        }
        if (context.options.checks_races())
            continue;  // which finds out whether they meet other accesses
        std::vector<Update> meeting = updates_that_meet(*loop, facts, deterministic);
        std::erase_if(meeting, [&](const Update& update) { return is_reduced(*loop, update); });
        found.emplace_back(loop, std::move(meeting));
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
