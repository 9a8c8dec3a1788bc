// See skew_loops.h. For each perfect nest: the distances between conflicting iterations, the best
// hyperplane for each range of its loops, and the nest of waves for the one that seems fastest.
#include "passes/waves/skew_loops.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>

#include "analysis/geometry.h"
#include "analysis/host_calls.h"
#include "analysis/memory/distances.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/wanted.h"
#include "passes/waves/hyperplanes.h"
#include "passes/waves/loop_bounds.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.5;  // of the time before

// To compare hyperplanes of a nest with each other; the planner compares the best with the nest.
constexpr double kShort = 60000;  // ns of a nest that is left alone
constexpr double kSlower = 30;    // a thread relative to a core of a CPU

// PARPY_WAVES: 0 disables the pass, 2 makes waves of every nest of which they can be made.
Wanted wanted() {
    return wanted_by("PARPY_WAVES");
}

std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

bool counts_down(const For& loop) {
    return constant_integer(loop.step) == -1;
}

// The operands of nested `op`, or the expression itself.
void collect(const Expr& expr, Op op, std::vector<const Expr*>& parts) {
    if (expr.op != op) {
        parts.push_back(&expr);
        return;
    }
    for (const Expr* operand : expr.operands)
        collect(*operand, op, parts);
}

class Skewing {
public:
    explicit Skewing(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options) {}

    // `keep`: replaces the loops that it returns notes for.
    std::vector<WavesNote> run(bool keep) {
        keep_ = keep;
        if (wanted() != Wanted::kNever) body(entry_.body);
        return std::move(notes_);
    }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop == nullptr) {
                for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
                continue;
            }
            const Nest nest = nest_of(*loop);
            if (nest.size() > 1 && skew(stmts, i, nest)) continue;
            Body& around = nest.size() > 1 ? nest[nest.size() - 2]->body : stmts;
            const std::size_t place = nest.size() > 1 ? 0 : i;
            const std::size_t count = around.size();
            if (!skew_part(around, place)) {
                body(nest.back()->body);
            } else if (nest.size() == 1) {
                i += around.size() - count;
            }
        }
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr)
            loops_ = std::make_unique<ParallelLoops>(entry_, options_.deterministic);
        return *loops_;
    }

    // In every call. The planner also takes a loop whose iterations are independent in some calls:
    // others would be compiled for their own sizes, and run it in order.
    bool may_run_in_parallel(For& loop) {
        return loops().legal(loop) && loops().facts(loop).conditions.empty();
    }

    // ------------------------------------------------------------ one nest

    bool skew(Body& stmts, std::size_t place, Nest nest) {
        while (!nest.empty() && !is_suitable(*nest.back()))
            nest.pop_back();  // an inner loop may be a part of the body
        const std::size_t first = first_suitable(nest);
        if (nest.size() - first < 2) return false;
        const Traffic traffic = loops().traffic();
        std::vector<double> trips;
        for (const For* loop : nest)
            trips.push_back(std::max(traffic.most_trips(*loop), 1.0));
        const double work = kSlower * SequentialTime(traffic).of(*nest.front());
        const auto in_order = time_in_order(nest, trips, work);
        if (!in_order) return false;
        std::optional<Hyperplane> best;
        {
            Distances distances(loops().accesses(), {nest.begin(), nest.end()});
            best = best_of(nest, first, distances, trips, work, *in_order);
        }
        if (!best) return false;
        For* made = waves(nest, *best);
        if (made == nullptr) return false;
        For* const replaced = nest[best->loops.first];
        Body& around = best->loops.first == 0 ? stmts : nest[best->loops.first - 1]->body;
        const std::size_t here = best->loops.first == 0 ? place : 0;
        const bool depends = std::ranges::any_of(
            nest, [&](For* loop) { return loops().legal(*loop) && !may_run_in_parallel(*loop); });
        std::optional<double> before;  // otherwise the planner's estimate
        if (depends) {
            const int number = loops().accesses().loop_of(nest.front());
            before = work * traffic.runs(loops().accesses().loops()[index(number)].parent);
        }
        const bool pays = wanted() == Wanted::kAlways ||
                          replace_if_faster(around, here, {made}, kWorthwhile, entry_,
                                            options_.deterministic, plan_cuda, before);
        around[here] = replaced;
        if (!pays) return false;
        forget();
        notes_.push_back({replaced, text(nest, *best)});
        if (!keep_) return true;
        replaced->var = made->var;
        replaced->begin = made->begin;
        replaced->end = made->end;
        replaced->step = made->step;
        replaced->body = made->body;
        replaced->labels.clear();
        return true;
    }

    // ------------------------------------------------------------ statements beside a loop

    // The same for a loop with statements before or behind an inner loop, such as the first element
    // of a row of a table: they run in loops of their own if results stay the same.
    bool skew_part(Body& stmts, std::size_t place) {
        auto* loop = stmts[place]->as<For>();
        const Body whole = loop->body;
        const auto is_loop = [](const Stmt* stmt) { return stmt->kind == StmtKind::kFor; };
        const auto inner = std::ranges::find_if(whole, is_loop);
        if (whole.size() < 2 || std::ranges::count_if(whole, is_loop) != 1) return false;
        const std::vector<Body> parts = {
            {whole.begin(), inner}, {*inner}, {inner + 1, whole.end()}};
        if (!may_be_apart(*loop, parts)) return false;
        const Body original = stmts;
        Body loops_of_parts;
        for (const Body& part : parts) {
            if (part.empty()) continue;
            For* each = loop;  // keeps the node that notes are about
            if (&part != &parts[1]) {
                Builder b(module_, loop->span);
                each = b.loop(loop->var, clone(module_, loop->begin), clone(module_, loop->end),
                              part, clone(module_, loop->step));
            }
            loops_of_parts.push_back(each);
        }
        loop->body = parts[1];
        stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
        stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(place), loops_of_parts.begin(),
                     loops_of_parts.end());
        forget();
        const std::size_t here = place + (parts[0].empty() ? 0 : 1);
        const bool done = skew(stmts, here, nest_of(*loop));
        if (done && keep_) return true;
        loop->body = whole;
        stmts = original;
        forget();
        return done;
    }

    // Whether all iterations of each part may precede those of the next part.
    bool may_be_apart(For& loop, const std::vector<Body>& parts) {
        const Uses uses = uses_of(loop.body);
        const bool fixed = invariant(*loop.begin, uses) && invariant(*loop.end, uses) &&
                           invariant(*loop.step, uses);
        const bool left = std::ranges::any_of(loop.body, [](Stmt* s) { return leaves_loop(*s); });
        if (!fixed || left || !only_computes(loop.body) || host_call(loop.body) != nullptr ||
            has_pragma(loop) || loops().accesses().loop_of(&loop) < 0) {
            return false;
        }
        const double work = kSlower * SequentialTime(loops().traffic()).of(loop);
        if (work < kShort && wanted() != Wanted::kAlways) return false;
        for (std::size_t later = 1; later < parts.size(); ++later) {
            for (std::size_t earlier = 0; earlier < later; ++earlier) {
                if (tied(parts[earlier], parts[later]) ||
                    loops().conflict(loop, parts[later], parts[earlier], /*same=*/false)) {
                    return false;
                }
            }
        }
        return true;
    }

    // Whether one of the parts assigns a scalar that the other one uses.
    static bool tied(const Body& a, const Body& b) {
        const Uses of_a = uses_of(a), of_b = uses_of(b);
        const auto reaches = [](const Uses& from, const Uses& to) {
            return std::ranges::any_of(from.written, [&](const Var* scalar) {
                return to.read.contains(scalar) || to.written.contains(scalar);
            });
        };
        return reaches(of_a, of_b) || reaches(of_b, of_a);
    }

    void forget() {
        loops_ = nullptr;
        liveness_.reset();
    }

    // ------------------------------------------------------------ what may be skewed

    // The first loop of the nest from which on the order may be changed, as far as its text shows.
    [[nodiscard]] std::size_t first_suitable(const Nest& nest) {
        if (nest.empty()) return 0;
        const Body& innermost = nest.back()->body;
        const auto no_while = [](const Stmt& stmt) { return stmt.kind != StmtKind::kWhile; };
        const bool computes = only_computes(innermost) && all_stmts(innermost, no_while) &&
                              host_call(nest.front()->body) == nullptr && has_own_scalars(nest);
        if (!computes) return nest.size();
        std::size_t first = nest.size();
        while (first > 0 && is_suitable(*nest[first - 1]))
            --first;
        return first;
    }

    template <class Predicate>
    static bool all_stmts(const Body& stmts, Predicate&& holds) {
        return !any_stmt(stmts, [&](const Stmt& stmt) { return !holds(stmt); });
    }

    // Whether no scalar passes a value from an iteration of the innermost body to another or
    // beyond.
    [[nodiscard]] bool has_own_scalars(const Nest& nest) {
        if (!liveness_) liveness_.emplace(entry_);
        const VarSet& live = liveness_->after(nest.front());
        const VarSet exposed = exposed_reads(nest.back()->body);
        const VarSet written = uses_of(nest.back()->body).written;
        const bool own = std::ranges::none_of(written, [&](const Var* scalar) {
            return exposed.contains(scalar) || live.contains(scalar);
        });
        return own && std::ranges::none_of(nest, [&](const For* loop) {
                   return live.contains(loop->var) || written.contains(loop->var);
               });
    }

    [[nodiscard]] bool is_suitable(const For& loop) {
        const Accesses& accesses = loops().accesses();
        const int number = accesses.loop_of(&loop);
        const auto step = constant_integer(loop.step);
        if (number < 0 || (step != 1 && step != -1) || loop.var->type != Type::of(Scalar::kI64) ||
            has_pragma(loop)) {
            return false;
        }
        for (const Expr* bound : {loop.begin, loop.end}) {
            const Uses uses = uses_of(*bound);
            if (uses.calls || !uses.loaded.empty()) return false;
        }
        // Sums of the variables with factors stay within 64 bits.
        constexpr Wide kFar = Wide{1} << 50;
        const auto near = [&](const Affine& value) {
            const WideInterval range = range_of(value, accesses.symbols());
            return range.low >= -kFar && range.high <= kFar;
        };
        const LoopInstance& instance = accesses.loops()[index(number)];
        return near(instance.value) &&
               std::ranges::all_of(instance.bounds,
                                   [&](const Condition& bound) { return near(bound.value); });
    }

    // ------------------------------------------------------------ the choice of a hyperplane

    // The estimated time of the nest as it is, of which one thread needs `work`. Nothing if waves
    // cannot save time: it is short, or one loop in order is all that is needed.
    std::optional<double> time_in_order(const Nest& nest, const std::vector<double>& trips,
                                        double work) {
        double launches = 1, width = 1;
        std::size_t ordered = 0;
        const auto time = [&] {
            return kLaunchTime * (width > 1 ? launches : 1) +
                   work / std::min(width, kThreadsAtOnce);
        };
        for (std::size_t i = 0; i < nest.size(); ++i) {
            if (may_run_in_parallel(*nest[i])) {
                width *= trips[i];
            } else {
                ++ordered;
                if (width == 1) launches *= trips[i];
            }
            if (width > 1 && time() < kShort && wanted() != Wanted::kAlways) return std::nullopt;
        }
        const bool worth = time() >= kShort || wanted() == Wanted::kAlways;
        return worth && ordered > 1 ? std::optional(time()) : std::nullopt;
    }

    std::optional<Hyperplane> best_of(const Nest& nest, std::size_t first, Distances& distances,
                                      const std::vector<double>& trips, double work,
                                      double in_order) {
        std::optional<Hyperplane> best;
        double least = wanted() == Wanted::kAlways ? std::numeric_limits<double>::infinity()
                                                   : kWorthwhile * in_order;
        for (std::size_t from = first; from + 1 < nest.size(); ++from) {
            const std::size_t most = std::min(nest.size() - from, kMostSkewed);
            for (std::size_t count = 2; count <= most; ++count) {
                Hyperplane found = best_hyperplane(distances, {from, from + count - 1}, trips);
                const auto used =
                    std::ranges::count_if(found.coefficients, [](auto h) { return h != 0; });
                if (used < 2) continue;  // none, or one loop in order is all that is needed
                double steps = found.waves, width = 1 / found.waves;
                for (std::size_t around = 0; around < from; ++around)
                    steps *= trips[around];
                for (std::size_t inside = from; inside < from + count; ++inside)
                    width *= trips[inside];
                const double time = kLaunchTime * steps + work / std::min(width, kThreadsAtOnce);
                if (time >= least || !inequalities(nest, found.loops)) continue;
                best = std::move(found);
                least = time;
            }
        }
        return best;
    }

    // ------------------------------------------------------------ the loops over waves

    // The bounds of the loops; nothing if one is not linear in the variables of the loops.
    std::optional<std::vector<LoopInequality>> inequalities(const Nest& nest, LoopRange range) {
        std::vector<LoopInequality> found;
        const Uses uses = uses_of(*nest[range.first]);
        for (std::size_t place = range.first; place <= range.last; ++place) {
            const For& loop = *nest[place];
            const bool down = counts_down(loop);
            for (const bool begin : {true, false}) {
                const bool below = begin != down;  // a lower bound of the variable
                std::vector<const Expr*> parts;
                collect(begin ? *loop.begin : *loop.end, below ? Op::kMax : Op::kMin, parts);
                for (const Expr* part : parts) {
                    auto bound = linear_bound(*part, nest, range, uses);
                    if (!bound) return std::nullopt;
                    // x - bound >= 0, or bound - x >= 0; an end is not a value of the variable.
                    if (below) negate(*bound);
                    bound->by_loop[place - range.first] += below ? 1 : -1;
                    if (!begin) --bound->rest.constant;
                    found.push_back(std::move(*bound));
                }
            }
        }
        return found;
    }

    static void negate(LoopInequality& inequality) {
        for (std::int64_t& each : inequality.by_loop)
            each = -each;
        inequality.rest.constant = -inequality.rest.constant;
        for (auto& [term, coefficient] : inequality.rest.terms)
            coefficient = -coefficient;
    }

    static std::optional<LoopInequality> linear_bound(const Expr& expr, const Nest& nest,
                                                      LoopRange range, const Uses& uses) {
        constexpr std::int64_t kMost = 64;  // of a factor
        LoopInequality result{std::vector<std::int64_t>(range.size()), {}};
        const Linear form = linear(expr);
        result.rest.constant = form.constant;
        for (const auto& [term, coefficient] : form.terms) {
            if (std::abs(coefficient) > kMost) return std::nullopt;
            const auto variable = [&](const For* loop) {
                return term->op == Op::kVar && term->var == loop->var;
            };
            const auto begin = nest.begin() + static_cast<std::ptrdiff_t>(range.first);
            const auto end = begin + static_cast<std::ptrdiff_t>(range.size());
            const auto loop = std::find_if(begin, end, variable);
            if (loop != end) {
                result.by_loop[static_cast<std::size_t>(loop - begin)] = coefficient;
            } else if (uses_of(*term).loaded.empty() && invariant(*term, uses)) {
                result.rest.terms.emplace_back(term, coefficient);
            } else {
                return std::nullopt;
            }
        }
        return result;
    }

    [[nodiscard]] bool is_mapped_by_hand(const For& loop) const {
        return options_.mapping.contains(place_names(entry_).at(&loop)) ||
               std::ranges::any_of(loop.labels, [&](const std::string& label) {
                   return options_.mapping.contains(label);
               });
    }

    // Null if the bounds cannot be written down, or if the loop that would go is mapped by hand.
    For* waves(const Nest& nest, const Hyperplane& plane) {
        const LoopRange range = plane.loops;
        std::size_t last = range.last;  // the loop whose variable follows from the others
        while (std::abs(plane.of(last)) != 1)
            --last;
        if (is_mapped_by_hand(*nest[last])) return nullptr;
        Builder b(module_, nest[range.first]->span);
        std::vector<Var*> variables = {b.scalar("wave", Scalar::kI64)};
        std::vector<std::size_t> kept;  // by the place in the nest
        for (std::size_t place = range.first; place <= range.last; ++place) {
            if (place == last) continue;
            kept.push_back(place);
            variables.push_back(nest[place]->var);
        }
        // Replaces the variable x of `last` by h * (wave - the other terms), where h is 1 or -1.
        std::vector<LoopInequality> bounds = *inequalities(nest, range);
        for (LoopInequality& each : bounds) {
            const std::int64_t factor = each.by_loop[last - range.first] * plane.of(last);
            std::vector<std::int64_t> columns = {factor};
            for (const std::size_t place : kept)
                columns.push_back(each.by_loop[place - range.first] - factor * plane.of(place));
            each.by_loop = std::move(columns);
        }
        LoopBounds loops;
        if (!loops.eliminate(variables.size(), std::move(bounds))) return nullptr;

        IndexMath math(b, Scalar::kI64);
        WeightedSum value{{{b.var(variables[0]), plane.of(last)}}};
        for (std::size_t i = 0; i < kept.size(); ++i)
            value.terms.emplace_back(b.var(variables[i + 1]), -plane.of(last) * plane.of(kept[i]));
        Var* replaced = module_.make_like(*nest[last]->var);
        Substitution own;
        own.vars[nest[last]->var] = replaced;
        b.span = nest[last]->span;
        Body inside = {b.assign(replaced, expression(math, value))};
        const Body rest = clone(module_, nest[range.last]->body, own);
        inside.insert(inside.end(), rest.begin(), rest.end());
        For* made = nullptr;
        for (std::size_t i = variables.size(); i-- > 0;) {
            const For& like = *nest[i == 0 ? range.first : kept[i - 1]];
            b.span = like.span;
            const LoopBounds::Ends ends = loops.ends(b, i, variables);
            made = b.loop(variables[i], ends.begin, ends.end, std::move(inside));
            if (i > 0) made->labels = like.labels;
            inside = {made};
        }
        return made;
    }

    static std::string text(const Nest& nest, const Hyperplane& plane) {
        std::string sum;
        for (std::size_t place = plane.loops.first; place <= plane.loops.last; ++place) {
            const std::int64_t h = plane.of(place);
            if (h == 0) continue;
            sum += h < 0 ? sum.empty() ? "-" : " - " : sum.empty() ? "" : " + ";
            if (std::abs(h) != 1) sum += std::to_string(std::abs(h)) + "*";
            sum += nest[place]->var->shown();
        }
        return "waves: iterations with the same " + sum + " are independent";
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    bool keep_ = true;
    std::vector<WavesNote> notes_;
    std::unique_ptr<ParallelLoops> loops_;  // of the function as it is now
    std::optional<Liveness> liveness_;      // likewise
};

}  // namespace

void skew_loops(PassContext& context) {
    Skewing(context).run(/*keep=*/true);
}

std::vector<WavesNote> waves_notes(PassContext& context) {
    return Skewing(context).run(/*keep=*/false);
}

}  // namespace parpy
