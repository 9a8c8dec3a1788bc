// See kernel_stages.h.
#include "passes/cuda/kernels/kernel_stages.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/visit.h"
#include "passes/mapped/partial_values.h"

namespace parpy {

using namespace ir;

namespace {

using Loops = std::vector<const For*>;

bool reduced_around(const Loops& around, const Reduction& target) {
    return std::ranges::any_of(around, [&](const For* loop) {
        return std::ranges::any_of(loop->mapping.reductions, [&](const Reduction& r) {
            return r.var == target.var && same(r.indices, target.indices);
        });
    });
}

bool combines(const For& spread, const Loops& around) {
    return std::ranges::any_of(spread.mapping.reductions,
                               [&](const Reduction& r) { return !reduced_around(around, r); });
}

// Whether the statements update a target that a loop around reduces over its iterations: the choice
// of the block that updates it would show in the bits.
bool updates_for_others(const Body& body, const Loops& around) {
    bool found = false;
    for_each_stmt(body, [&](const Stmt& stmt) {
        for (const For* loop : around) {
            for (const Reduction& r : loop->mapping.reductions)
                found = found || updates(stmt, r);
        }
    });
    return found;
}

bool only_assigns(const Body& body) {
    return std::ranges::all_of(body, [](const Stmt* stmt) {
        const auto* branch = stmt->as<If>();
        if (branch != nullptr)
            return only_assigns(branch->then_body) && only_assigns(branch->else_body);
        return stmt->kind == StmtKind::kAssign;
    });
}

bool may_precede(const Body& before, const For& spread, const Loops& around) {
    if (!only_assigns(before) || updates_for_others(before, around)) return false;
    const Uses uses = uses_of(before), inside = uses_of(spread);
    return !uses.calls && uses.stored.empty() &&
           std::ranges::none_of(uses.loaded, [&](const Var* a) { return inside.may_store(*a); });
}

// The arrays that each block stores to on its own.
std::vector<const Var*> stored_by_blocks(const For& spread) {
    std::vector<const Var*> stored;
    for_each_stmt(spread.body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        const auto reduced = [&](const Reduction& r) { return updates(stmt, r); };
        if (store != nullptr && !std::ranges::any_of(spread.mapping.reductions, reduced))
            stored.push_back(store->array);
    });
    for_each_expr(spread.body, [&](const Expr& e) {
        if (e.op == Op::kArray || e.op == Op::kAtomic) stored.push_back(e.var);
    });
    return stored;
}

bool may_follow(const Body& after, const For& spread, const Loops& around) {
    const auto leaves = [](const Stmt* stmt) { return leaves_loop(*stmt); };
    if (std::ranges::any_of(after, leaves) || contains_spread_call(after)) return false;
    if (updates_for_others(after, around)) return false;
    const Uses uses = uses_of(after);
    const std::vector<const Var*> stored = stored_by_blocks(spread);
    return std::ranges::none_of(uses.loaded, [&](const Var* a) { return may_share(stored, *a); });
}

// Moves constants that initialise scalars at the end of `after` to the next stage, if this one does
// not use them.
Body take_starts(KernelStage& stage) {
    const auto starts = [&](const Stmt* stmt) {
        const auto* assign = stmt->as<Assign>();
        if (assign == nullptr || assign->update || assign->value->op != Op::kConst) return false;
        KernelStage rest = stage;
        std::erase(rest.after, stmt);
        const Uses uses = uses_of(rest.body());
        return !uses.read.contains(assign->var) && !uses.written.contains(assign->var);
    };
    Body taken;
    while (!stage.after.empty() && starts(stage.after.back())) {
        taken.insert(taken.begin(), stage.after.back());
        stage.after.pop_back();
    }
    return taken;
}

}  // namespace

Body KernelStage::body() const {
    Body whole = before;
    if (spread != nullptr) whole.push_back(spread);
    whole.insert(whole.end(), after.begin(), after.end());
    return whole;
}

std::vector<KernelStage> kernel_stages(const std::vector<Body>& pieces, const Loops& around) {
    std::vector<KernelStage> stages;
    for (const Body& piece : pieces) {
        auto* loop = piece.front()->as<For>();
        KernelStage* last = stages.empty() ? nullptr : &stages.back();
        if (loop == nullptr || !spreads(*loop)) {
            if (last != nullptr && last->combines && may_follow(piece, *last->spread, around)) {
                last->after = piece;
            } else {
                stages.emplace_back().before = piece;
            }
            continue;
        }
        const bool ends = combines(*loop, around);
        const bool joins = ends && last != nullptr && last->spread == nullptr &&
                           may_precede(last->before, *loop, around);
        Body starts = ends && last != nullptr && !joins ? take_starts(*last) : Body{};
        KernelStage& stage = joins ? *last : stages.emplace_back();
        if (!joins) stage.before = std::move(starts);
        stage.spread = loop;
        stage.combines = ends;
    }
    return stages;
}

}  // namespace parpy
