// See dependences.h. Each pair of accesses to one array first undergoes a test of a few
// comparisons, which decides most pairs of most programs: dimensions whose subscripts differ
// whenever the iterations do. ISL answers the remaining questions.
#include "analysis/memory/dependences.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/integers/constraint_system.h"
#include "analysis/integers/digits.h"
#include "analysis/integers/integer_sets.h"
#include "analysis/memory/memory_layout.h"
#include "analysis/memory/same_place.h"
#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

using Outcome = ConstraintSystem::Outcome;
using Part = ConstraintSystem::Part;

std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

Dependence::Kind kind_of(const Access& source, const Access& sink) {
    if (source.kind == Access::Kind::kRead) return Dependence::Kind::kAnti;
    return sink.kind == Access::Kind::kWrite ? Dependence::Kind::kOutput : Dependence::Kind::kFlow;
}

bool commute(const Access& a, const Access& b) {
    return a.kind == Access::Kind::kUpdate && b.kind == Access::Kind::kUpdate &&
           a.update == b.update;
}

std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

// Whether the functions that `body` calls, directly or not, have no effects except stores, and
// cannot fail. `seen`: functions that have been asked about.
bool calls_only_compute(const Body& body, std::unordered_set<const Function*>& seen) {
    const auto acts = [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kFail || stmt.kind == StmtKind::kAssert ||
               stmt.kind == StmtKind::kPrint || stmt.kind == StmtKind::kGpu;
    };
    return !any_expr(body, [&](const Expr& e) {
        if (e.op != Op::kCall || !seen.insert(e.callee).second) return false;
        const Body& called = e.callee->body;
        const bool has_effect = any_expr(
            called, [](const Expr& each) { return each.op != Op::kCall && has_effects(each.op); });
        return e.callee->kind == FunctionKind::kForeign || any_stmt(called, acts) || has_effect ||
               !calls_only_compute(called, seen);
    });
}

bool calls_only_compute(const Body& body) {
    std::unordered_set<const Function*> seen;
    return calls_only_compute(body, seen);
}

}  // namespace

struct Dependences::State {
    explicit State(const Function& entry_) : entry(entry_), accesses(entry_) {}

    const Function& entry;
    const Accesses accesses;
    IntegerSets sets;
    SamePlace same_place{accesses, sets};
    std::optional<Liveness> liveness;
    std::unordered_map<int, Digits> digits;  // of the loops in question

    // ------------------------------------------------------------ pairs

    const Digits& digits_of(int loop) {
        return digits.try_emplace(loop, accesses, loop).first->second;
    }

    // Whether no two iterations of `of` have the same subscripts, whatever iterations of `loop`,
    // the same or a loop around it, they belong to. Each digit in which they may differ needs a
    // dimension whose subscripts then differ: by c * the difference of the digit, a constant, and
    // terms that are too small, or have too large factors, to cancel it.
    bool separated(const Access& a, const Access& b, int loop, int of) {
        if (a.anywhere || b.anywhere) return false;
        const Digits& parts = digits_of(of);
        std::vector<bool> tell(parts.widths().size(), false);
        for (const auto& [first, second] : same_place.subscripts(a, b, loop)) {
            const auto rest = sum(first, second, -1);
            if (!rest || !rest->is_constant()) continue;
            std::vector<Spread> others;
            Affine own;
            bool fits = true;
            for (const auto& [symbol, coefficient] : first.terms) {
                const int scope = accesses.symbols()[index(symbol)].scope;
                if (scope < 0 || !accesses.inside(scope, loop)) continue;
                if (const Affine* value = parts.expansion(symbol)) {
                    const auto more = sum(own, *value, coefficient);
                    fits = fits && more.has_value();
                    if (more) own = *more;
                } else {
                    others.push_back({coefficient, width_of(accesses, symbol)});
                }
            }
            for (std::size_t digit = 0; fits && digit < tell.size(); ++digit) {
                std::vector<Spread> beside = others;
                for (const auto& [number, coefficient] : own.terms) {
                    if (index(number) != digit)
                        beside.push_back({coefficient, parts.widths()[index(number)]});
                }
                tell[digit] = tell[digit] ||
                              never_zero(own.coefficient(static_cast<int>(digit)),
                                         parts.widths()[digit], std::move(beside), rest->constant);
            }
        }
        return std::ranges::all_of(tell, [](bool told) { return told; });
    }

    Occurrence instance(const ConstraintSystem& system, const Access& access, int copy) const {
        Occurrence result;
        result.access = &access;
        for (const int number : accesses.chain(access.loop)) {
            const LoopInstance& loop = accesses.loops()[index(number)];
            result.iteration.emplace_back(loop.stmt, system.value(loop.value, copy));
        }
        for (const Affine& subscript : access.indices)
            result.element.push_back(system.value(subscript, copy));
        return result;
    }

    // Adds the dependence of `sink` in a later iteration on `source`, if there is one.
    void test(const Access& source, const Access& sink, int loop, Memory memory, bool distances,
              LoopFacts& facts) {
        const bool commutes = memory == Memory::kSameElements && commute(source, sink);
        if (commutes && source.atomic && sink.atomic) return;
        ConstraintSystem system(accesses, loop);
        Outcome outcome = Outcome::kPerhaps;
        if (!sets.exhausted()) {
            system.happens(source, 0);
            system.happens(sink, 1);
            system.ordered();
            same_place.require(system, loop, source, sink, memory);
            outcome = system.solve(sets);
        }
        if (outcome == Outcome::kNever) return;
        if (outcome == Outcome::kForSomeCalls ||
            (outcome == Outcome::kPerhaps && system.general())) {
            // Updates that conflict in some calls may be atomic in all, or reduced.
            if (!commutes) {
                auto excluded =
                    outcome == Outcome::kForSomeCalls ? system.excluded(sets) : std::nullopt;
                if (!excluded) excluded.emplace().emplace_back();
                facts.conditions.insert(facts.conditions.end(), excluded->begin(), excluded->end());
                if (outcome == Outcome::kForSomeCalls) return;
            }
        }
        Dependence& found = facts.dependences.emplace_back();
        found.kind = kind_of(source, sink);
        found.source = &source;
        found.sink = &sink;
        found.commutes = commutes;
        found.exact = outcome == Outcome::kSurely;
        if (found.exact) {
            found.witness = {instance(system, source, 0), instance(system, sink, 1)};
        }
        if (distances) {
            const Affine counter = Affine::symbol(accesses.loops()[index(loop)].counter);
            const auto range = system.range(sets, {{&counter, 1}, {&counter, 0, -1}});
            found.least_distance = range.low;
            found.greatest_distance = range.high;
        }
    }

    // Whether each iteration of `loop` touches the element of the group by these updates alone,
    // even if none of them is reached: it is safe to store the element after the loop in any case.
    bool alone(const UpdateGroup& group, int loop) {
        const auto in_group = [&](const Stmt* stmt) {
            return std::ranges::any_of(group.updates,
                                       [&](const Update& u) { return *u.slot == stmt; });
        };
        std::vector<const Access*> own, others;
        for (const Access& access : accesses.all()) {
            if (!accesses.inside(access.loop, loop)) continue;
            const bool update = access.kind == Access::Kind::kUpdate;
            const bool ours = update && std::ranges::any_of(access.stmts, in_group);
            if (ours) own.push_back(&access);
            if (!ours || !std::ranges::all_of(access.stmts, in_group)) others.push_back(&access);
        }
        const auto meet = [&](const Access& update, const Access& other) {
            const Memory memory = relation(*update.array, *other.array);
            if (memory == Memory::kApart) return false;
            Access element = update;  // which is invariant in the loop
            element.loop = accesses.loops()[index(loop)].parent;
            element.premise = nullptr;
            element.certain = true;
            ConstraintSystem system(accesses, loop);
            system.happens(element, 0);
            system.happens(other, 1);
            same_place.require(system, loop, element, other, memory);
            return sets.exhausted() || system.solve(sets) != Outcome::kNever;
        };
        return !own.empty() && std::ranges::none_of(own, [&](const Access* update) {
            return std::ranges::any_of(others,
                                       [&](const Access* other) { return meet(*update, *other); });
        });
    }

    static bool reduced(const LoopFacts& facts, const Access& access) {
        return std::ranges::any_of(facts.reductions, [&](const UpdateGroup& group) {
            return std::ranges::any_of(group.updates, [&](const Update& update) {
                return update.indices != nullptr && access.made_by(*update.slot);
            });
        });
    }

    // ------------------------------------------------------------ scalars

    void judge_scalars(const For& loop, LoopFacts& facts) {
        if (!liveness) liveness.emplace(entry);
        VarSet written = uses_of(loop.body).written;
        for_each_stmt(loop.body, [&](const Stmt& stmt) {
            if (const auto* inner = stmt.as<For>()) written.erase(inner->var);
        });
        for (const UpdateGroup& group : facts.reductions)
            written.erase(group.updates.front().var);
        written.erase(loop.var);
        if (written.empty()) return;
        const VarSet exposed = exposed_reads(loop.body);
        const VarSet& live = liveness->after(&loop);
        for (const Var* scalar : written) {
            if (exposed.contains(scalar)) {
                facts.carried_scalars.push_back(scalar);
            } else if (live.contains(scalar)) {
                facts.last_values.push_back(scalar);
            } else {
                facts.private_scalars.push_back(scalar);
            }
        }
    }

    // ------------------------------------------------------------ the verdict

    std::string doubt(const Dependence& d) const {
        const Access& a = *d.source;
        const Access& b = *d.sink;
        if (sets.exhausted()) return "it would take too long to decide";
        if (a.array != b.array && relation(*a.array, *b.array) == Memory::kUnclear) {
            return quoted(a.array->name) + " and " + quoted(b.array->name) +
                   " overlap in memory in a way that is not known";
        }
        const auto depends_on_data = [&](const Access& access) {
            return access.anywhere || std::ranges::any_of(access.indices, [&](const Affine& i) {
                       return std::ranges::any_of(i.terms, [&](const auto& term) {
                           return accesses.symbols()[index(term.first)].kind ==
                                  Symbol::Kind::kOpaque;
                       });
                   });
        };
        if (depends_on_data(a) || depends_on_data(b)) {
            return "which element of " + quoted((depends_on_data(a) ? a : b).array->name) +
                   " an iteration touches depends on data";
        }
        return "whether an iteration touches " + quoted(a.array->name) + " depends on data";
    }

    static bool earlier(const Dependence& a, const Dependence& b, std::size_t depth) {
        const auto place = [&](const Dependence& d) {
            std::vector<std::int64_t> times;
            for (std::size_t i = 0; i <= depth; ++i)
                times.push_back(d.witness[0].iteration[i].second);
            times.push_back(d.witness[1].iteration[depth].second);
            return std::pair(times, d.kind);
        };
        return place(a) < place(b);
    }

    static bool forgets_nan(For& loop, const LoopFacts& facts) {
        if (std::ranges::any_of(facts.reductions, &UpdateGroup::forgets_nan)) return true;
        return std::ranges::any_of(find_updates(loop.body), [&](const Update& update) {
            return update.forgets_nan &&
                   std::ranges::any_of(facts.dependences, [&](const Dependence& d) {
                       return d.source->made_by(*update.slot) || d.sink->made_by(*update.slot);
                   });
        });
    }

    void conclude(For& loop, int depth, LoopFacts& facts) const {
        const Dependence* best = nullptr;
        int best_rank = 5;
        for (const Dependence& d : facts.dependences) {
            // Ranks: proved conflicts, possible ones, updates, possible updates, reductions.
            int rank = d.exact ? 0 : 1;
            if (d.commutes) rank = reduced(facts, *d.source) ? 4 : rank + 2;
            const bool better =
                rank < best_rank || (rank == best_rank && d.exact && best->exact &&
                                     earlier(d, *best, static_cast<std::size_t>(depth)));
            if (!better) continue;
            best = &d;
            best_rank = rank;
        }
        if (best != nullptr) facts.decisive = *best;
        facts.scatters = best_rank == 2 || best_rank == 3;
        if (best_rank == 0) {
            facts.verdict = Verdict::kRefuted;
        } else if (!facts.carried_scalars.empty()) {
            facts.verdict = Verdict::kRefuted;
            facts.reason = quoted(facts.carried_scalars.front()->shown()) +
                           " carries a value from one iteration to the next";
        } else if (!facts.last_values.empty()) {
            facts.verdict = Verdict::kRefuted;
            facts.reason = quoted(facts.last_values.front()->shown()) +
                           " is assigned by every iteration and read after the loop";
        } else if (left_early(loop)) {
            facts.verdict = Verdict::kUnknown;
            facts.reason = "an iteration may end the loop";
        } else if (best_rank == 1) {
            facts.verdict = Verdict::kUnknown;
            facts.reason = doubt(*best);
        } else if (best_rank == 3) {
            facts.verdict = Verdict::kReduction;
            facts.reason = doubt(*best);
        } else if (best_rank == 2 || best_rank == 4 || reduces_scalar(facts)) {
            facts.verdict = Verdict::kReduction;
        }
        if (facts.verdict == Verdict::kReduction && forgets_nan(loop, facts)) {
            facts.forgets_nan = true;
            facts.reason = "its result for a NaN depends on the order of the iterations";
        }
    }

    static bool reduces_scalar(const LoopFacts& facts) {
        return std::ranges::any_of(facts.reductions, [](const UpdateGroup& group) {
            return group.updates.front().indices == nullptr;
        });
    }

    static bool left_early(const For& loop) {
        bool found = false;
        const auto look = [&](const auto& self, const Body& body, bool own) -> void {
            for (const Stmt* stmt : body) {
                const bool inner = stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile;
                found = found || stmt->kind == StmtKind::kReturn ||
                        (stmt->kind == StmtKind::kBreak && own);
                for_each_body(*stmt, [&](const Body& b) { self(self, b, own && !inner); });
            }
        };
        look(look, loop.body, true);
        return found;
    }

    // fn(source, sink, memory): an iteration of `loop` may reach the source, a later one the sink.
    template <class F>
    void for_each_ordered_pair(int loop, F&& fn) {
        for_each_pair_in(accesses, loop, [&](const Access& a, const Access& b, Memory memory) {
            if (memory == Memory::kSameElements && separated(a, b, loop, loop)) return;
            fn(a, b, memory);
            if (&a != &b) fn(b, a, memory);
        });
    }

    // Whether no iteration of `outer` conflicts with a later one for which `sum` + `constant` >= 0;
    // iterations of `inner` with the same variable are not told apart.
    bool never_conflict(int outer, int inner, const std::vector<Part>& sum, std::int64_t constant) {
        bool never = true;
        for_each_ordered_pair(outer, [&](const Access& a, const Access& b, Memory memory) {
            if (!never || (memory == Memory::kSameElements && separated(a, b, outer, inner)))
                return;
            ConstraintSystem system(accesses, outer);
            system.happens(a, 0);
            system.happens(b, 1);
            system.ordered();
            same_place.require(system, outer, a, b, memory);
            system.require(sum, constant, false);
            never = !sets.exhausted() && system.solve(sets) == Outcome::kNever;
        });
        return never;
    }
};

Dependences::Dependences(const Function& entry) : state_(std::make_unique<State>(entry)) {}

Dependences::~Dependences() = default;

const Accesses& Dependences::accesses() const {
    return state_->accesses;
}

LoopFacts Dependences::of(For& loop, bool distances) {
    LoopFacts facts;
    facts.reductions = reductions_of(loop);
    const int number = state_->accesses.loop_of(&loop);
    for (UpdateGroup& group : possible_reductions_of(loop)) {
        if (number >= 0 && state_->alone(group, number))
            facts.reductions.push_back(std::move(group));
    }
    state_->judge_scalars(loop, facts);
    int depth = 0;
    if (number >= 0) {
        depth = state_->accesses.loops()[index(number)].depth;
        state_->for_each_ordered_pair(number, [&](const Access& a, const Access& b, Memory memory) {
            if (a.array == b.array &&
                std::ranges::find(loop.disjoint, a.array) != loop.disjoint.end())
                return;
            state_->test(a, b, number, memory, distances, facts);
        });
    }
    state_->conclude(loop, depth, facts);
    return facts;
}

bool Dependences::wavefront(For& outer, For& inner) {
    const Accesses& accesses = state_->accesses;
    const int out = accesses.loop_of(&outer), in = accesses.loop_of(&inner);
    if (out < 0 || in < 0 || accesses.loops()[index(in)].parent != out) return false;
    const auto unit = [](const For& loop) {
        return loop.step->op == Op::kConst && loop.step->constant == Constant{std::int64_t{1}};
    };
    LoopFacts scalars;
    state_->judge_scalars(outer, scalars);
    const bool tied = !scalars.carried_scalars.empty() || !scalars.last_values.empty();
    if (tied || !unit(outer) || !unit(inner)) return false;
    const bool nested = std::ranges::all_of(accesses.all(), [&](const Access& access) {
        return !accesses.inside(access.loop, out) || accesses.inside(access.loop, in);
    });
    if (!nested) return false;
    const Affine& i = accesses.loops()[index(out)].value;
    const Affine& j = accesses.loops()[index(in)].value;
    // No conflict on the same or an earlier diagonal.
    return state_->never_conflict(out, in, {{&i, 0}, {&j, 0}, {&i, 1, -1}, {&j, 1, -1}}, 0);
}

bool Dependences::interchangeable(For& outer, For& inner) {
    const Accesses& accesses = state_->accesses;
    const int out = accesses.loop_of(&outer), in = accesses.loop_of(&inner);
    if (out < 0 || in < 0 || accesses.loops()[index(in)].parent != out) return false;
    for (For* loop : {&outer, &inner}) {
        LoopFacts scalars;
        state_->judge_scalars(*loop, scalars);
        if (!scalars.carried_scalars.empty() || !scalars.last_values.empty()) return false;
    }
    const Affine j = Affine::symbol(accesses.loops()[index(in)].counter);
    return state_->never_conflict(out, in, {{&j, 0}, {&j, 1, -1}}, -1);
}

bool Dependences::reads_apart(const For& loop, const Stmt& stmt) {
    const Accesses& accesses = state_->accesses;
    const int number = accesses.loop_of(&loop);
    if (number < 0) return false;
    const auto meet = [&](const Access& read, const Access& write) {
        const Memory memory = relation(*read.array, *write.array);
        if (memory == Memory::kApart) return false;
        ConstraintSystem system(accesses, number);
        system.happens(read, 0);
        system.happens(write, 1);
        state_->same_place.require(system, number, read, write, memory);
        return state_->sets.exhausted() || system.solve(state_->sets) != Outcome::kNever;
    };
    return std::ranges::none_of(accesses.all(), [&](const Access& read) {
        if (read.writes() || !read.made_by(&stmt) || !accesses.inside(read.loop, number))
            return false;
        return std::ranges::any_of(accesses.all(), [&](const Access& write) {
            return write.writes() && accesses.inside(write.loop, number) && meet(read, write);
        });
    });
}

bool Dependences::conflict(const For& loop, const Body& source, const Body& sink, bool same) {
    const Accesses& accesses = state_->accesses;
    const int number = accesses.loop_of(&loop);
    if (number < 0) return true;
    if (!calls_only_compute(source) || !calls_only_compute(sink)) return true;
    const auto made_in = [&](const Body& body) {
        std::unordered_set<const Stmt*> statements;
        for_each_stmt(body, [&](const Stmt& each) { statements.insert(&each); });
        const auto inside = [&](const Stmt* each) { return statements.contains(each); };
        std::vector<const Access*> result;
        for (const Access& access : accesses.all()) {
            const bool made = std::ranges::any_of(access.stmts, inside) ||
                              std::ranges::any_of(access.callers, inside);
            if (made && accesses.inside(access.loop, number)) result.push_back(&access);
        }
        return result;
    };
    const Affine counter = Affine::symbol(accesses.loops()[index(number)].counter);
    const auto meet = [&](const Access& a, const Access& b) {
        if (!a.writes() && !b.writes()) return false;
        const Memory memory = relation(*a.array, *b.array);
        if (memory == Memory::kApart) return false;
        ConstraintSystem system(accesses, number);
        system.happens(a, 0);
        system.happens(b, 1);
        system.require({{&counter, 1}, {&counter, 0, -1}}, same ? 0 : -1, false);
        state_->same_place.require(system, number, a, b, memory);
        return state_->sets.exhausted() || system.solve(state_->sets) != Outcome::kNever;
    };
    const std::vector<const Access*> later = made_in(sink);
    return std::ranges::any_of(made_in(source), [&](const Access* a) {
        return std::ranges::any_of(later, [&](const Access* b) { return meet(*a, *b); });
    });
}

std::vector<Dependences::Violation> Dependences::out_of_bounds(
    std::vector<Alternatives>& conditions) {
    std::vector<Violation> found;
    const Accesses& accesses = state_->accesses;
    for (const Access& access : accesses.all()) {
        const bool settled =
            (access.certain || access.general) && access.while_depth < 0 && !access.anywhere;
        if (!settled || access.array->dims.size() != access.indices.size()) continue;
        bool violated = false;
        for (std::size_t axis = 0; axis < access.indices.size() && !violated; ++axis) {
            const Dim& dim = access.array->dims[axis];
            const Affine& subscript = access.unwrapped[axis];
            const Interval values = accesses.range(subscript);
            const auto extent = dim.extent ? std::optional(Affine::of(*dim.extent))
                                           : accesses.parameter(dim.extent_var);
            if (!extent) continue;
            for (const bool below : {true, false}) {
                if (below ? values.low >= 0 : dim.extent && values.high < *dim.extent) continue;
                ConstraintSystem system(accesses, -1);
                system.happens(access, 0);
                if (below) {
                    system.require({{&subscript, 0, -1}}, -1, false);
                } else {
                    system.require({{&subscript, 0}, {&*extent, 0, -1}}, 0, false);
                }
                const Outcome outcome = system.solve(state_->sets);
                if (outcome == Outcome::kForSomeCalls ||
                    (outcome == Outcome::kPerhaps && system.general())) {
                    auto excluded = outcome == Outcome::kForSomeCalls
                                        ? system.excluded(state_->sets)
                                        : std::nullopt;
                    if (!excluded) excluded.emplace().emplace_back();
                    conditions.insert(conditions.end(), excluded->begin(), excluded->end());
                }
                if (outcome != Outcome::kSurely) continue;
                found.push_back(
                    {state_->instance(system, access, 0), axis, system.value(subscript, 0)});
                violated = true;
                break;
            }
        }
    }
    return found;
}

}  // namespace parpy
