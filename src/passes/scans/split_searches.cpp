// See split_searches.h.
#include "passes/scans/split_searches.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/scans/same_bits.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.9;  // of the time before

// A loop that searches, with its parts.
struct Search {
    For* loop = nullptr;
    Body first;                // assignments that precede the conditions
    std::vector<Expr*> masks;  // other elements are skipped
    bool greatest = false;     // else the least
    bool last = false;         // among equally good ones; else the first
    Expr* value = nullptr;     // of an iteration
    Expr* best = nullptr;      // so far
    Body taken;                // assignments that run if the value is better
};

class Matcher {
public:
    Matcher(Module& module, const Liveness& liveness) : module_(module), liveness_(liveness) {}

    std::optional<Search> match(For& loop) {
        if (has_pragma(loop) || constant_integer(loop.step) != 1 || is_wanted_after(loop, loop.var))
            return std::nullopt;
        Search search;
        search.loop = &loop;
        const If* test = nullptr;
        for (Stmt* stmt : loop.body) {
            if (test != nullptr) return std::nullopt;
            test = stmt->as<If>();
            if (test == nullptr) search.first.push_back(stmt);
        }
        std::vector<Expr*> conditions;
        while (test != nullptr) {
            if (!test->else_body.empty()) return std::nullopt;
            take_apart(test->condition, conditions);
            const auto* inner =
                test->then_body.size() == 1 ? test->then_body[0]->as<If>() : nullptr;
            if (inner == nullptr) search.taken = test->then_body;
            test = inner;
        }
        if (conditions.empty()) return std::nullopt;
        Expr* comparison = conditions.back();
        conditions.pop_back();
        search.masks = conditions;
        if (!assigns_alone(search) || !compares(search, *comparison)) return std::nullopt;
        return search;
    }

private:
    bool is_wanted_after(const For& loop, const Var* var) const {
        return liveness_.after(&loop).contains(var);
    }

    static void take_apart(Expr* condition, std::vector<Expr*>& conditions) {
        if (condition->op == Op::kAnd) {
            for (Expr* operand : condition->operands)
                take_apart(operand, conditions);
        } else {
            conditions.push_back(condition);
        }
    }

    // Whether it assigns each scalar once, and only the comparison reads them in the loop.
    bool assigns_alone(const Search& search) {
        written_ = {};
        const auto assigns = [&](const Body& body) {
            return std::ranges::all_of(body, [&](const Stmt* stmt) {
                const auto* assign = stmt->as<Assign>();
                return assign != nullptr && !assign->update && is_exact(*assign->value) &&
                       written_.insert(assign->var);
            });
        };
        if (!assigns(search.first)) return false;
        for (const Stmt* stmt : search.first) {
            if (is_wanted_after(*search.loop, stmt->as<Assign>()->var)) return false;
        }
        if (!assigns(search.taken)) return false;
        taken_ = uses_of(search.taken).written;
        const auto is_known = [&](const Uses& uses) {
            return std::ranges::none_of(uses.read, [&](Var* v) { return taken_.contains(v); });
        };
        return is_known(uses_of(search.first)) && is_known(uses_of(search.taken)) &&
               !taken_.contains(search.loop->var) &&
               std::ranges::all_of(search.masks, [&](const Expr* mask) {
                   return is_exact(*mask) && is_known(uses_of(*mask));
               });
    }

    bool compares(Search& search, const Expr& comparison) {
        const bool less = comparison.op == Op::kLt || comparison.op == Op::kLe;
        const bool more = comparison.op == Op::kGt || comparison.op == Op::kGe;
        if (!less && !more) return false;
        search.last = comparison.op == Op::kLe || comparison.op == Op::kGe;
        search.greatest = more;
        search.value = comparison.operands[0];
        search.best = comparison.operands[1];
        if (reads_taken(*search.value)) {
            std::swap(search.value, search.best);
            search.greatest = less;
        }
        const Scalar type = search.value->type.scalar;
        return !reads_taken(*search.value) && is_exact(*search.value) && type != Scalar::kBool &&
               (is_taken_with(search) || is_at_its_place(search));
    }

    bool reads_taken(const Expr& expr) const {
        return std::ranges::any_of(uses_of(expr).read,
                                   [&](const Var* var) { return taken_.contains(var); });
    }

    // Whether it is `if x[i] > best: best = x[i]`.
    static bool is_taken_with(const Search& search) {
        if (search.best->op != Op::kVar) return false;
        return std::ranges::any_of(search.taken, [&](const Stmt* stmt) {
            const auto* assign = stmt->as<Assign>();
            return assign->var == search.best->var && same(*assign->value, *search.value);
        });
    }

    // Whether it is `if x[i] > x[at]: at = i`.
    bool is_at_its_place(const Search& search) const {
        for (const Stmt* stmt : search.taken) {
            const auto* assign = stmt->as<Assign>();
            if (assign->value->op != Op::kVar || assign->value->var != search.loop->var) continue;
            // If `at` is the number of an iteration, a subscript does not count from the end.
            Substitution here;
            here.vars[assign->var] = search.loop->var;
            Expr* best = without_index(clone(module_, search.best, here));
            Expr* value = without_index(clone(module_, search.value));
            if (same(*best, *value)) return true;
        }
        return false;
    }

    static Expr* without_index(Expr* expr) {
        rewrite(expr, [](Expr* e) { return e->op == Op::kIndex ? e->operands[0] : e; });
        return expr;
    }

    Module& module_;
    const Liveness& liveness_;
    VarSet written_, taken_;
};

class Splitting {
public:
    explicit Splitting(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop == nullptr || !split(stmts, i))
                for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
        }
    }

    bool split(Body& stmts, std::size_t& place) {
        const For& loop = *stmts[place]->as<For>();
        if (loop.body.empty() || loop.body.back()->as<If>() == nullptr) return false;
        const Liveness liveness(entry_);
        const auto search = Matcher(module_, liveness).match(*stmts[place]->as<For>());
        if (!search) return false;
        const Body made = split(*search);
        if (!replace_if_faster(stmts, place, made, kWorthwhile, entry_, deterministic_, plan_cuda))
            return false;
        place += made.size() - 1;
        return true;
    }

    Body split(const Search& search) {
        const For& loop = *search.loop;
        Builder b(module_, loop.span);
        const Scalar type = search.value->type.scalar, index = loop.var->type.scalar;
        Var* value = b.scalar("value", type);
        Var* place = b.scalar("place", index);
        const std::int64_t none = search.last ? std::numeric_limits<std::int32_t>::min()
                                              : std::numeric_limits<std::int32_t>::max();
        const std::int64_t wide = search.last ? std::numeric_limits<std::int64_t>::min()
                                              : std::numeric_limits<std::int64_t>::max();
        const auto nowhere = [&] {
            return b.integer(size_in_bytes(index) == 4 ? none : wide, index);
        };

        Body made = {b.assign(value, clone(module_, search.best))};
        made.push_back(over(search, [&](const Substitution& s) -> Stmt* {
            return b.update(value, search.greatest ? Op::kMax : Op::kMin,
                            clone(module_, search.value, s));
        }));
        made.push_back(b.assign(place, nowhere()));
        made.push_back(over(search, [&](const Substitution& s) -> Stmt* {
            Expr* is_best = b.binary(Op::kEq, clone(module_, search.value, s), b.var(value));
            Stmt* found =
                b.update(place, search.last ? Op::kMax : Op::kMin, b.var(renamed(loop, s)));
            return b.if_(is_best, {found});
        }));
        Expr* better = search.last ? b.binary(Op::kNe, b.var(place), nowhere())
                                   : b.binary(search.greatest ? Op::kGt : Op::kLt, b.var(value),
                                              clone(module_, search.best));
        Substitution there = renamings(search);
        there.vars[loop.var] = place;
        Body taken = clone(module_, search.first, there);
        for (Stmt* stmt : clone(module_, search.taken, there))
            taken.push_back(stmt);
        made.push_back(b.if_(better, std::move(taken)));

        Expr* runs = has_iterations(b, loop);
        return runs == nullptr ? made : Body{b.if_(runs, std::move(made))};
    }

    static Var* renamed(const For& loop, const Substitution& s) { return s.vars.at(loop.var); }

    // Renames the variables for a copy of the loop's body, except those that are assigned.
    Substitution renamings(const Search& search) {
        Substitution made;
        for (const Stmt* stmt : search.first) {
            Var* var = stmt->as<Assign>()->var;
            made.vars[var] = module_.make_like(*var);
        }
        return made;
    }

    // Makes a copy of the loop that processes the values that are not skipped in another way.
    template <class F>
    For* over(const Search& search, F&& what) {
        const For& loop = *search.loop;
        Substitution own = renamings(search);
        own.vars[loop.var] = module_.make_like(*loop.var);
        auto* copy = clone(module_, &loop, own)->template as<For>();
        copy->body = clone(module_, search.first, own);
        Body inner = {what(own)};
        for (auto mask = search.masks.rbegin(); mask != search.masks.rend(); ++mask) {
            Builder b(module_, (*mask)->span);
            inner = {b.if_(clone(module_, *mask, own), std::move(inner))};
        }
        copy->body.insert(copy->body.end(), inner.begin(), inner.end());
        return copy;
    }

    Module& module_;
    Function& entry_;
    bool deterministic_;
};

}  // namespace

void split_searches(PassContext& context) {
    Splitting(context).run();
}

}  // namespace parpy
