// See scatters.h.
#include "analysis/scatters.h"

#include <algorithm>

namespace parpy {

using namespace ir;

namespace {

bool can_be_atomic(const Update& update) {
    const Scalar scalar = update.var->type.scalar;
    if (!is_complex(scalar)) return size_in_bytes(scalar) <= 8;
    // Real and imaginary parts are added separately.
    const bool sum = update.update == Op::kAdd || update.update == Op::kSub;
    const auto fits = [&](const Expr* value) { return value->type.scalar == scalar; };
    return sum && fits(update.value) &&
           std::ranges::all_of(update.more, fits, &Update::Term::value);
}

}  // namespace

std::vector<Update> scattered_updates(For& loop, const LoopFacts& facts, bool deterministic) {
    if (!facts.scatters || facts.verdict != Verdict::kReduction) return {};
    std::vector<const Stmt*> wanted;
    for (const Dependence& d : facts.dependences) {
        for (const Access* access : {d.source, d.sink})
            wanted.insert(wanted.end(), access->stmts.begin(), access->stmts.end());
    }
    std::vector<Update> found;
    for (const Update& update : find_updates_in_calls(loop.body)) {
        const auto here = std::ranges::find(wanted, *update.slot);
        if (here == wanted.end()) continue;
        if (!can_be_atomic(update) || (deterministic && is_ordered(update))) return {};
        found.push_back(update);
    }
    const bool all = std::ranges::all_of(wanted, [&](const Stmt* stmt) {
        return std::ranges::any_of(found, [&](const Update& u) { return *u.slot == stmt; });
    });
    return all ? found : std::vector<Update>{};
}

std::vector<Update> updates_that_meet(For& loop, const LoopFacts& facts, bool deterministic) {
    std::vector<Update> found = find_updates_in_calls(loop.body);
    std::erase_if(found, [&](const Update& update) {
        const auto meets = [&](const Dependence& d) {
            return d.commutes && (d.source->made_by(*update.slot) || d.sink->made_by(*update.slot));
        };
        return update.indices == nullptr || !can_be_atomic(update) ||
               (deterministic && is_ordered(update)) ||
               std::ranges::none_of(facts.dependences, meets);
    });
    return found;
}

bool only_relaxes(For& loop, const LoopFacts& facts) {
    if (facts.verdict != Verdict::kRefuted || facts.dependences.empty() ||
        !facts.carried_scalars.empty() || !facts.last_values.empty()) {
        return false;
    }
    std::vector<Update> updates = find_updates_in_calls(loop.body);
    std::erase_if(updates, [](const Update& update) {
        const Op op = update.update;
        return op != Op::kMin && op != Op::kMax && op != Op::kMinimum && op != Op::kMaximum;
    });
    const auto relaxes = [&](const Access* access) {
        return access->kind == Access::Kind::kRead ||
               std::ranges::any_of(
                   updates, [&](const Update& update) { return access->made_by(*update.slot); });
    };
    return std::ranges::all_of(facts.dependences, [&](const Dependence& d) {
        return relaxes(d.source) && relaxes(d.sink);
    });
}

}  // namespace parpy
