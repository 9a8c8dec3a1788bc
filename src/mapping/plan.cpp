// Code for both planners. See plan.h.
#include "mapping/plan.h"

#include <algorithm>

#include "analysis/cost.h"
#include "analysis/host_calls.h"
#include "analysis/pragmas.h"
#include "analysis/scatters.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kPerIteration = 0.2;

// Whether an iteration may end the call between two updates of an element: all earlier iterations
// must have updated it by then.
bool may_end_between_updates(const For& loop, const LoopFacts& facts) {
    const auto of_element = [](const UpdateGroup& group) {
        return group.updates.front().var->type.is_array();
    };
    return std::ranges::any_of(facts.reductions, of_element) &&
           any_stmt(loop.body, [](const Stmt& s) { return s.kind == StmtKind::kFail; });
}

}  // namespace

const LoopFacts& ParallelLoops::facts(For& loop) {
    const auto found = known_.find(&loop);
    if (found != known_.end()) return found->second;
    return known_.emplace(&loop, dependences_.of(loop)).first->second;
}

bool ParallelLoops::legal(For& loop) {
    if (host_call(loop.body) != nullptr) return false;
    const Pragma pragma = pragma_of(loop);
    if (pragma.sequential) return false;
    const LoopFacts& f = facts(loop);
    const bool in_order =
        deterministic_ && std::ranges::any_of(f.reductions, &UpdateGroup::is_ordered);
    // If no proof is found, a pragma decides; check_pragmas has rejected pragmas that are refuted.
    const bool said = pragma.spreads();
    const bool independent =
        f.verdict == Verdict::kProved ||
        (said && !in_order && (f.verdict == Verdict::kUnknown || only_relaxes(loop, f))) ||
        (f.verdict == Verdict::kReduction && !f.scatters && (said || !f.forgets_nan) && !in_order &&
         !may_end_between_updates(loop, f));
    return independent && std::ranges::none_of(f.conditions, [](const Alternatives& condition) {
               return condition.empty();
           });
}

std::vector<Update> ParallelLoops::scattered(For& loop) {
    if (host_call(loop.body) != nullptr || pragma_of(loop).sequential) return {};
    const LoopFacts& f = facts(loop);
    return f.forgets_nan ? std::vector<Update>{} : scattered_updates(loop, f, deterministic_);
}

bool ParallelLoops::reduces(For& loop) {
    return legal(loop) && facts(loop).verdict == Verdict::kReduction;
}

bool replace_if_faster(Body& stmts, std::size_t place, const Body& others, double factor,
                       Function& entry, bool deterministic, Planner planner,
                       std::optional<double> before) {
    const Body original = stmts;
    const auto time_with = [&](const Body& here) {
        stmts = original;
        const auto at = stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
        stmts.insert(at, here.begin(), here.end());
        ParallelLoops loops(entry, deterministic);
        return planner(loops).nanoseconds;
    };
    const double rest = time_with({});
    if (!before) before = time_with({original[place]}) - rest;
    if (time_with(others) - rest <= factor * *before) return true;
    stmts = original;
    return false;
}

std::vector<For*> outermost_loops(Body& body) {
    std::vector<For*> found;
    for (Stmt* stmt : body) {
        if (auto* loop = stmt->as<For>()) {
            found.push_back(loop);
        } else {
            for_each_body(*stmt, [&](Body& inner) {
                for (For* loop : outermost_loops(inner))
                    found.push_back(loop);
            });
        }
    }
    return found;
}

double SequentialTime::of(const Stmt& stmt) const {
    constexpr double kGuessedWhile = 64;
    if (const auto* loop = stmt.as<For>()) {
        return traffic_.trips(*loop) * (of(loop->body) + kPerIteration);
    }
    if (const auto* loop = stmt.as<While>()) return kGuessedWhile * of(loop->body);
    double inside = 0;
    bool nested = false;
    for_each_body(stmt, [&](const Body& body) {
        nested = true;
        inside = std::max(inside, of(body));
    });
    return nested ? inside + kPerIteration : cost_of(stmt);
}

std::optional<double> SequentialTime::most(const Stmt& stmt) const {
    if (stmt.kind == StmtKind::kWhile || uses_of(stmt).calls) return std::nullopt;
    std::optional<double> sum = 0;
    bool nested = false;
    for_each_body(stmt, [&](const Body& body) {
        nested = true;
        for (const Stmt* inner : body) {
            const auto time = most(*inner);
            sum = sum && time ? std::optional(*sum + *time) : std::nullopt;
        }
    });
    if (!nested) return cost_of(stmt);
    const auto* loop = stmt.as<For>();
    const auto trips = loop != nullptr ? traffic_.known_trips(*loop) : 1;
    return sum && trips ? std::optional(*trips * (*sum + kPerIteration)) : std::nullopt;
}

double SequentialTime::of(const Body& body) const {
    double sum = 0;
    for (const Stmt* stmt : body)
        sum += of(*stmt);
    return sum;
}

Independence ParallelLoops::independence(For& loop) {
    if (legal(loop)) return reduces(loop) ? Independence::kNone : Independence::kFull;
    const LoopFacts& found = facts(loop);
    const bool reads_first = !found.dependences.empty() && found.carried_scalars.empty() &&
                             found.last_values.empty() && found.conditions.empty() &&
                             std::ranges::all_of(found.dependences, [](const Dependence& d) {
                                 return d.kind == Dependence::Kind::kAnti;
                             });
    return reads_first ? Independence::kReadsFirst : Independence::kNone;
}

}  // namespace parpy
