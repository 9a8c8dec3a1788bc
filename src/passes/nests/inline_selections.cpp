// See inline_selections.h. A selection is found by the store to a place that its loop counts, and
// its loops by their number of iterations, which must be that count.
#include "passes/nests/inline_selections.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/cost.h"
#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/nests/own_arrays.h"

namespace parpy {

using namespace ir;

namespace {

// The most loops over the same selected elements: each of them tests all elements again.
constexpr std::size_t kMostReaders = 4;

// A subscript that counts from the end if it is negative, without that rule.
const Expr& plain_index(const Expr& index) {
    return index.op == Op::kIndex ? plain_index(*index.operands[0]) : index;
}

bool is_var(const Expr& expr, const Var* var) {
    return expr.op == Op::kVar && expr.var == var;
}

bool is_integer(const Expr& expr, std::int64_t value) {
    return constant_integer(&expr) == value;
}

// The statements of a nest whose loops contain nothing but `if condition:`, without else.
struct Filter {
    Nest nest;
    If* branch = nullptr;
};

std::optional<Filter> filter_of(Stmt& stmt) {
    auto* loop = stmt.as<For>();
    if (loop == nullptr) return std::nullopt;
    Filter filter{nest_of(*loop), nullptr};
    const Body& inner = filter.nest.back()->body;
    if (inner.size() == 1) filter.branch = inner.front()->as<If>();
    if (filter.branch == nullptr || !filter.branch->else_body.empty()) return std::nullopt;
    return filter;
}

bool increments(const Stmt& stmt, const Var* var) {
    const auto* step = stmt.as<Assign>();
    return step != nullptr && step->var == var && step->update == Op::kAdd &&
           is_integer(*step->value, 1);
}

class Inlining {
public:
    explicit Inlining(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options) {}

    void run() {
        made_ = own_arrays(entry_);
        if (made_.empty()) return;
        body(entry_.body);
        if (!gone_.empty()) drop_arrays();
    }

private:
    // A nest that stores selected elements: if condition: t[…, k] = value; k += 1.
    struct Selection {
        std::size_t place;  // in its body
        Filter filter;
        Store* store;
        Var* counter;
    };

    // The statement before which a value is asked for: in a body, and in those around it up to that
    // of the selection. There are only branches between them.
    struct Position {
        struct Level {
            Body* stmts;
            std::size_t place;
        };
        std::vector<Level> levels;  // the outermost first

        [[nodiscard]] Stmt& stmt() const { return *(*levels.back().stmts)[levels.back().place]; }
        [[nodiscard]] std::size_t outer() const { return levels.front().place; }
        // The last statement before it that may assign the scalar.
        [[nodiscard]] std::optional<Position> last_write(const Var& var) const {
            for (Position at = *this; !at.levels.empty(); at.levels.pop_back()) {
                auto& [stmts, place] = at.levels.back();
                while (place-- > 0)
                    if (uses_of(*(*stmts)[place]).written.contains(&var)) return at;
            }
            return std::nullopt;
        }
    };

    // A loop over the selected elements.
    struct Reader {
        Position at;
        For* loop;
    };

    void body(Body& stmts) {
        for (Stmt* stmt : stmts)
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
        for (std::size_t i = stmts.size(); i-- > 0;) {
            while (i < stmts.size() && inline_one(stmts, i)) {
            }
        }
    }

    // Tries the selections of one nest; false if none was inlined.
    bool inline_one(Body& stmts, std::size_t place) {
        for (const Selection& selection : selections(stmts, place)) {
            const auto found = readers(stmts, selection);
            if (!found || found->size() > kMostReaders) continue;
            for (const Reader& reader : *found)
                put(reader, over_all(stmts, selection, reader));
            drop(stmts, selection);
            return true;
        }
        return false;
    }

    std::vector<Selection> selections(Body& stmts, std::size_t place) const {
        const auto filter = filter_of(*stmts[place]);
        if (!filter || asked_for(filter->nest)) return {};
        const Body& chosen = filter->branch->then_body;
        const auto* step = chosen.empty() ? nullptr : chosen.back()->as<Assign>();
        if (step == nullptr || !increments(*step, step->var)) return {};
        const auto start = Position{{{&stmts, place}}}.last_write(*step->var);
        if (!start || !sets(start->stmt(), *step->var, 0)) return {};
        std::vector<Selection> found;
        for (Stmt* stmt : chosen) {
            auto* store = stmt->as<Store>();
            if (stmt == step) break;
            if (store == nullptr || !is_plain(*store)) return {};
            const bool counted = is_var(plain_index(*store->indices.back()), step->var);
            if (counted && made_.contains(store->array) && !gone_.contains(store->array) &&
                count_stores(entry_, *store->array) == 1 && is_simple(*store->value) &&
                is_simple(*filter->branch->condition)) {
                found.push_back({place, *filter, store, step->var});
            }
        }
        return found;
    }

    // Cheap, and without effects.
    static bool is_simple(const Expr& value) {
        return is_pure(value) &&
               !any_expr(value, [](const Expr& e) { return is_elementary(e.op); });
    }

    // Whether pragmas or a mapping by hand name one of the loops.
    [[nodiscard]] bool asked_for(const Nest& nest) const {
        if (std::ranges::any_of(nest, [](const For* loop) { return has_pragma(*loop); }))
            return true;
        return are_mapped(nest, entry_, options_.mapping);
    }

    // ------------------------------------------------------------ values of scalars

    static bool sets(const Stmt& stmt, const Var& var, std::int64_t value) {
        const auto* assign = stmt.as<Assign>();
        return assign != nullptr && assign->var == &var && !assign->update &&
               is_integer(*assign->value, value);
    }

    // Whether the value at this position is the number of selected elements.
    bool is_count(Body& stmts, const Selection& selection, const Expr& value,
                  const Position& at) const {
        if (value.op == Op::kMax && value.operands.size() == 2) {
            const auto least = constant_integer(value.operands[1]);
            return least && *least <= 0 && is_count(stmts, selection, *value.operands[0], at);
        }
        if (value.op == Op::kMin && value.operands.size() == 2) {
            const Expr &a = *value.operands[0], &b = *value.operands[1];
            return is_count(stmts, selection, a, at) &&
                   (holds_all(selection.filter.nest, b) || is_count(stmts, selection, b, at));
        }
        if (value.op != Op::kVar) return false;
        const auto last = at.last_write(*value.var);
        if (!last) return false;
        const bool outside = last->levels.size() == 1;
        if (outside && last->outer() == selection.place) return value.var == selection.counter;
        if (const auto* assign = last->stmt().as<Assign>())
            return !assign->update && is_count(stmts, selection, *assign->value, *last);
        return outside && counts_alike(stmts, selection, *value.var, *last);
    }

    // Whether a nest counts, in the variable, the elements that the selection stores.
    bool counts_alike(Body& stmts, const Selection& selection, const Var& var,
                      const Position& at) const {
        const auto filter = filter_of(at.stmt());
        if (!filter || filter->branch->then_body.size() != 1 ||
            !increments(*filter->branch->then_body.front(), &var)) {
            return false;
        }
        const auto start = at.last_write(var);
        return start && sets(start->stmt(), var, 0) &&
               are_alike(stmts, *filter, at.outer(), selection);
    }

    // Whether a nest at `place` tests the same condition for the same elements.
    bool are_alike(const Body& stmts, const Filter& filter, std::size_t place,
                   const Selection& selection) const {
        if (filter.nest.size() != selection.filter.nest.size()) return false;
        Substitution renamed;
        const auto same_when_renamed = [&](const Expr* own, const Expr* other) {
            return same(*clone(module_, own, renamed), *other);
        };
        for (std::size_t i = 0; i < filter.nest.size(); ++i) {
            const For &own = *filter.nest[i], &other = *selection.filter.nest[i];
            if (own.var->type != other.var->type || !same_when_renamed(own.begin, other.begin) ||
                !same_when_renamed(own.end, other.end) ||
                !same_when_renamed(own.step, other.step)) {
                return false;
            }
            renamed.vars[own.var] = other.var;
        }
        return same_when_renamed(filter.branch->condition, selection.filter.branch->condition) &&
               stays(stmts, selection, false, std::min(place, selection.place),
                     std::max(place, selection.place));
    }

    // Whether the nest has at most so many iterations.
    static bool holds_all(const Nest& nest, const Expr& size) {
        std::vector<const Expr*> factors;
        for (const For* loop : nest) {
            if (!is_integer(*loop->begin, 0) || !is_integer(*loop->step, 1)) return false;
            factors.push_back(loop->end);
        }
        if (const auto most = constant_integer(&size)) {
            std::int64_t trips = 1;
            for (const Expr* factor : factors) {
                const auto end = constant_integer(factor);
                if (!end || __builtin_mul_overflow(trips, std::max<std::int64_t>(*end, 0), &trips))
                    return false;
            }
            return trips <= *most;
        }
        const Expr* product = &size;
        for (std::size_t i = factors.size(); i-- > 1;) {
            if (product->op != Op::kMul || !same(*product->operands[1], *factors[i])) return false;
            product = product->operands[0];
        }
        return same(*product, *factors[0]);
    }

    // Whether the condition, the bounds, the subscripts beside the count and, if wanted, the value
    // stay the same in the statements from `first` to `last`.
    static bool stays(const Body& stmts, const Selection& selection, bool value, std::size_t first,
                      std::size_t last) {
        VarSet own;
        for (const For* loop : selection.filter.nest)
            own.insert(loop->var);
        const Body range(stmts.begin() + static_cast<std::ptrdiff_t>(first),
                         stmts.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        const Uses between = uses_of(range);
        if (between.calls) return false;
        std::vector<const Expr*> needed = {selection.filter.branch->condition};
        for (const For* loop : selection.filter.nest)
            needed.insert(needed.end(), {loop->begin, loop->end, loop->step});
        if (value) {
            needed.push_back(selection.store->value);
            needed.insert(needed.end(), selection.store->indices.begin(),
                          selection.store->indices.end() - 1);
        }
        return std::ranges::all_of(needed, [&](const Expr* each) {
            const Uses uses = uses_of(*each);
            return !uses.read.contains(selection.counter) &&
                   std::ranges::none_of(uses.loaded,
                                        [&](const Var* a) { return between.may_store(*a); }) &&
                   std::ranges::none_of(uses.read, [&](const Var* v) {
                       return !own.contains(v) && between.written.contains(v);
                   });
        });
    }

    // ------------------------------------------------------------ loops over selected elements

    // The loops that use the array; nothing if there is another use.
    std::optional<std::vector<Reader>> readers(Body& stmts, const Selection& selection) const {
        const Var& array = *selection.store->array;
        std::size_t uses = 0;
        for_each_expr(entry_.body, [&](const Expr& e) { uses += e.var == &array; });
        std::vector<Reader> found;
        for (std::size_t i = selection.place + 1; i < stmts.size() && uses > 0; ++i)
            find_readers(stmts, selection, {{{&stmts, i}}}, found, uses);
        return uses == 0 ? std::optional(std::move(found)) : std::nullopt;
    }

    // Adds the loops in a statement over the selected elements, whose loads count down the uses of
    // the array.
    void find_readers(Body& stmts, const Selection& selection, const Position& at,
                      std::vector<Reader>& found, std::size_t& uses) const {
        Stmt& stmt = at.stmt();
        const auto loads = any_expr(static_cast<const Stmt&>(stmt),
                                    [&](const Expr& e) { return e.var == selection.store->array; });
        if (!loads) return;
        if (stmt.kind == StmtKind::kIf) {
            for_each_body(stmt, [&](Body& inner) {
                for (std::size_t i = 0; i < inner.size(); ++i) {
                    Position deeper = at;
                    deeper.levels.push_back({&inner, i});
                    find_readers(stmts, selection, deeper, found, uses);
                }
            });
        }
        auto* loop = stmt.as<For>();
        if (loop == nullptr || !may_run_over_all(stmts, selection, *loop, at)) return;
        for_each_expr(static_cast<const Stmt&>(stmt),
                      [&](const Expr& e) { uses -= e.var == selection.store->array; });
        found.push_back({at, loop});
    }

    bool may_run_over_all(Body& stmts, const Selection& selection, For& loop,
                          const Position& at) const {
        if (contains_loop(loop.body) || !only_computes(loop.body) || asked_for({&loop}) ||
            !is_integer(*loop.begin, 0) || !is_integer(*loop.step, 1) ||
            !is_count(stmts, selection, *loop.end, at) ||
            !stays(stmts, selection, true, selection.place, at.outer())) {
            return false;
        }
        const std::vector<Selection> all = selected_alike(stmts, selection, at.outer());
        std::size_t counters = 0, elements = 0;
        bool simple = true;
        for_each_expr(loop.body, [&](const Expr& e) {
            counters += e.var == loop.var;
            const bool element = std::ranges::any_of(
                all, [&](const Selection& each) { return is_element(each, loop, e); });
            elements += element;
            simple = simple && !is_elementary(e.op) && e.op != Op::kCall &&
                     (element || e.var != selection.store->array);
        });
        return simple && counters == elements;
    }

    // The selection and others of the same elements of other arrays, whose values a statement at
    // `place` can compute.
    std::vector<Selection> selected_alike(Body& stmts, const Selection& selection,
                                          std::size_t place) const {
        std::vector<Selection> found = {selection};
        for (std::size_t i = 0; i < place; ++i) {
            if (i == selection.place) continue;
            for (const Selection& other : selections(stmts, i)) {
                if (are_alike(stmts, other.filter, i, selection) &&
                    stays(stmts, other, true, i, place)) {
                    found.push_back(other);
                }
            }
        }
        return found;
    }

    // Whether it loads t[…, j] for the counter j of the loop.
    static bool is_element(const Selection& selection, const For& loop, const Expr& e) {
        const Store& store = *selection.store;
        if (e.op != Op::kLoad || e.var != store.array || e.operands.size() != store.indices.size())
            return false;
        for (std::size_t i = 0; i + 1 < e.operands.size(); ++i)
            if (!same(*e.operands[i], *store.indices[i])) return false;
        return is_var(plain_index(*e.operands.back()), loop.var);
    }

    // The loop as a nest over all elements, with the condition.
    Stmt* over_all(Body& stmts, const Selection& selection, const Reader& reader) {
        const For& loop = *reader.loop;
        Builder b(module_, loop.span);
        Body inner = loop.body;
        Nest nest;  // the new loops, without bodies
        Substitution renamed;
        for (const For* each : selection.filter.nest) {
            Expr* begin = clone(module_, each->begin, renamed);
            Expr* end = clone(module_, each->end, renamed);
            Expr* step = clone(module_, each->step, renamed);
            Var* var = module_.make_like(*each->var);
            renamed.vars[each->var] = var;
            nest.push_back(b.loop(var, begin, end, {}, step));
        }
        for (const Selection& each : selected_alike(stmts, selection, reader.at.outer())) {
            Substitution own;
            for (std::size_t i = 0; i < nest.size(); ++i)
                own.vars[each.filter.nest[i]->var] = nest[i]->var;
            Var* element = nullptr;
            rewrite(inner, [&](Expr* e) {
                if (!is_element(each, loop, *e)) return e;
                if (element == nullptr) element = scalar_like(module_, *each.store);
                return Builder(module_, e->span).var(element);
            });
            if (element == nullptr) continue;
            inner.insert(inner.begin(), b.assign(element, clone(module_, each.store->value, own)));
        }
        Stmt* made =
            b.if_(clone(module_, selection.filter.branch->condition, renamed), std::move(inner));
        for (auto it = nest.rbegin(); it != nest.rend(); ++it) {
            (*it)->body = {made};
            made = *it;
        }
        made->labels = loop.labels;
        return made;
    }

    static void put(const Reader& reader, Stmt* made) {
        const auto& [stmts, place] = reader.at.levels.back();
        (*stmts)[place] = made;
    }

    // ------------------------------------------------------------ what is left

    // Removes the store, its nest and its counter if nothing else needs them, and the tests whether
    // the size of the array is negative.
    void drop(Body& stmts, const Selection& selection) {
        gone_.insert(selection.store->array);
        std::unordered_set<const Stmt*> unused;
        for (std::size_t i = 0; i < selection.place; ++i)
            if (tests_count(stmts, selection, i)) unused.insert(stmts[i]);
        Stmt* nest = stmts[selection.place];
        const auto erase = [&] {
            std::erase_if(stmts, [&](const Stmt* stmt) { return unused.contains(stmt); });
        };
        erase();
        If& branch = *selection.filter.branch;
        std::erase(branch.then_body, static_cast<Stmt*>(selection.store));
        bool read = branch.then_body.size() > 1;
        for_each_expr(entry_.body,
                      [&](const Expr& e) { read = read || e.var == selection.counter; });
        if (read) return;
        unused.insert(nest);
        for (const Stmt* stmt : stmts)
            if (sets(*stmt, *selection.counter, 0)) unused.insert(stmt);
        erase();
    }

    // Whether the statement is: if count < 0: fail.
    bool tests_count(Body& stmts, const Selection& selection, std::size_t place) const {
        const auto* branch = stmts[place]->as<If>();
        return branch != nullptr && branch->else_body.empty() && branch->then_body.size() == 1 &&
               branch->then_body.front()->kind == StmtKind::kFail &&
               branch->condition->op == Op::kLt && is_integer(*branch->condition->operands[1], 0) &&
               is_count(stmts, selection, *branch->condition->operands[0], {{{&stmts, place}}});
    }

    void drop_arrays() {
        rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
            const auto* alloc = stmt->as<Alloc>();
            if (alloc == nullptr || !gone_.contains(alloc->array)) out.push_back(stmt);
        });
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    std::unordered_set<const Var*> made_;  // by the program, for itself
    std::unordered_set<const Var*> gone_;
};

}  // namespace

void inline_selections(PassContext& context) {
    Inlining(context).run();
}

}  // namespace parpy
