// See nest_of_sums.h.
#include "analysis/contractions/nest_of_sums.h"

#include <algorithm>
#include <optional>

#include "analysis/memory/sharing.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool varies(const Expr& e, const For& loop) {
    return any_expr(e, [&](const Expr& x) { return x.op == Op::kVar && x.var == loop.var; });
}

bool varies(const Expr& e, const Loops& loops) {
    return std::ranges::any_of(loops, [&](const For* loop) { return varies(e, *loop); });
}

// The only statement under a condition, or the statement itself.
static Stmt& unconditional(Stmt& stmt) {
    auto* branch = stmt.as<If>();
    const bool only =
        branch != nullptr && branch->then_body.size() == 1 && branch->else_body.empty();
    return only ? *branch->then_body.front() : stmt;
}

NestOfSums::NestOfSums(Module& module, For& top, const Judge& judge, bool deterministic)
    : uses(uses_of(static_cast<const Stmt&>(top))),
      module_(module),
      top_(top),
      judge_(judge),
      deterministic_(deterministic) {
    for_each_stmt(static_cast<Stmt&>(top), [&](Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) ++assigned_[assign->var];
        if (auto* branch = stmt.as<If>())
            for_each_stmt(*branch, [&](Stmt& inner) { has_branch_ |= adds_products(inner); });
    });
}

bool NestOfSums::read() {
    Loops around = {&top_};
    if (!find_sum(top_.body, around)) {
        progress = has_branch_ ? 1 : 0;
        return fail("products are added under a condition");
    }
    progress = 2;
    if (!walk_stem()) return false;
    ++progress;
    return read_chains();
}

bool NestOfSums::fail(std::string why) {
    reason = std::move(why);
    return false;
}

// ---------------------------------------------------------------- expressions

Expr* NestOfSums::plain(const Expr& e) {
    Expr* copy = clone(module_, &e, values);
    return is_free(*copy) ? copy : nullptr;
}

bool NestOfSums::is_free(const Expr& e, const VarSet& stored) const {
    const Uses own = uses_of(e);
    return !has_effects(e) &&
           std::ranges::none_of(own.read, [&](const Var* v) { return assigned_.contains(v); }) &&
           std::ranges::none_of(own.loaded, [&](const Var* v) { return may_share(stored, *v); });
}

// x = f(loop variables): uses of x further down become that expression.
bool NestOfSums::replaces(const Stmt& stmt) {
    const auto* assign = stmt.as<Assign>();
    if (assign == nullptr || assign->update || assigned_.at(assign->var) != 1 ||
        assign->var == target) {
        return false;
    }
    Expr* value = plain(*assign->value);
    if (value == nullptr) return false;
    values.values[assign->var] = value;
    return true;
}

bool NestOfSums::same_bounds(const For& a, const For& b, const Substitution& to_b) {
    const auto equal = [&](const Expr* x, const Expr* y) {
        return same(*clone(module_, x, to_b), *y);
    };
    return equal(a.begin, b.begin) && equal(a.end, b.end) && equal(a.step, b.step);
}

// ---------------------------------------------------------------- the sum

// The first statement that adds products to a sum, and the loops around it.
bool NestOfSums::find_sum(Body& body, Loops& around) {
    for (Stmt* stmt : body) {
        if (auto* loop = stmt->as<For>()) {
            around.push_back(loop);
            if (find_sum(loop->body, around)) return true;
            around.pop_back();
            continue;
        }
        if (!adds_products(unconditional(*stmt))) continue;
        const auto sum = product_sum(unconditional(*stmt));
        path_ = around;
        target = sum->target;
        is_element = sum->indices != nullptr;
        return path_.size() > 1;
    }
    return false;
}

// ---------------------------------------------------------------- loops around the steps

bool NestOfSums::walk_stem() {
    std::optional<std::size_t> sums;  // the level that owns the scalar sum
    if (!is_element) {
        for (std::size_t i = path_.size(); i-- > 0 && !sums;)
            if (begins_sum(path_[i]->body, i)) sums = i;
        if (!sums) return fail("the sum is initialised outside of the loops");
    }
    for (std::size_t i = 0; i < path_.size(); ++i) {
        For& loop = *path_[i];
        if (is_element && !sum_varies_with(loop)) break;
        if (i + 1 == path_.size()) return fail("no loop adds to the sum");
        Level level{&loop, {}, {}};
        const auto inside = std::ranges::find(loop.body, path_[i + 1]);
        for (auto it = loop.body.begin(); it != inside; ++it)
            if (!replaces(**it)) level.before.push_back(*it);
        level.behind.assign(inside + 1, loop.body.end());
        stem.push_back(std::move(level));
        if (sums == i) break;
    }
    return true;
}

// Whether the scalar is assigned here, before the loop on the path.
bool NestOfSums::begins_sum(const Body& body, std::size_t level) const {
    for (const Stmt* stmt : body) {
        if (level + 1 < path_.size() && stmt == path_[level + 1]) return false;
        const auto* assign = stmt->as<Assign>();
        if (assign == nullptr || assign->var != target || assign->update) continue;
        if (!uses_of(*assign->value).read.contains(target)) return true;
    }
    return false;
}

// Whether the element on the path varies with the loop; scalars of inner levels may be subscripts.
bool NestOfSums::sum_varies_with(const For& loop) {
    Substitution known = values;
    for (const For* level : path_) {
        for (const Stmt* stmt : level->body) {
            const auto* assign = stmt->as<Assign>();
            if (assign != nullptr && !assign->update && assigned_.at(assign->var) == 1)
                known.values.try_emplace(assign->var, clone(module_, assign->value, known));
        }
    }
    for (Stmt* stmt : path_.back()->body) {
        const auto sum = product_sum(unconditional(*stmt));
        if (!sum || sum->target != target || sum->indices == nullptr) continue;
        return std::ranges::any_of(*sum->indices, [&](const Expr* index) {
            return varies(*clone(module_, index, known), loop);
        });
    }
    return false;
}

// ---------------------------------------------------------------- the steps

bool NestOfSums::read_chains() {
    const std::size_t depth = stem.size();
    if (depth == 0) return read_chain(top_) && joins_alike();
    Level& level = stem.back();
    if (!read_chain(*path_[depth])) return false;
    // Loops that follow directly are further ranges of steps.
    while (!level.behind.empty()) {
        auto* next = level.behind.front()->as<For>();
        if (next == nullptr || !adds_to_sum(*next)) break;
        if (!read_chain(*next)) return false;
        level.behind.erase(level.behind.begin());
    }
    return joins_alike();
}

bool NestOfSums::adds_to_sum(For& loop) const {
    return any_stmt(static_cast<const Stmt&>(loop), [&](const Stmt& stmt) {
        auto sum = product_sum(const_cast<Stmt&>(stmt));
        return sum && sum->target == target;
    });
}

bool NestOfSums::read_chain(For& loop) {
    const Substitution before = values;
    Chain chain;
    for (For* at = &loop; at != nullptr;) {
        chain.loops.push_back(at);
        For* inside = nullptr;
        for (Stmt* stmt : at->body) {
            if (inside != nullptr) return fail("statements follow the innermost loop");
            if (auto* next = stmt->as<For>()) {
                if (!chain.products.empty()) return fail("statements precede the innermost loop");
                inside = next;
            } else if (!replaces(*stmt) && !add(*stmt, chain)) {
                return false;
            }
        }
        at = inside;
    }
    if (chain.products.empty()) return fail("no products are added in the innermost loop");
    for (For* each : chain.loops) {
        const auto has = [&](const Expr* index) { return varies(*index, *each); };
        if (std::ranges::any_of(chain.indices, has)) chain.of_sums.push_back(each);
    }
    values = before;
    chains.push_back(std::move(chain));
    return true;
}

// Adds a product under a condition, which must not change from step to step.
bool NestOfSums::add_under(If& branch, Chain& chain) {
    Expr* condition = plain(*branch.condition);
    const bool fits = is_element && chain.products.empty() && condition != nullptr &&
                      uses_of(*condition).loaded.empty() && !uses_of(*condition).calls;
    if (!fits) return fail("products are added under a condition");
    chain.condition = condition;
    return add(*branch.then_body.front(), chain);
}

bool NestOfSums::add(Stmt& stmt, Chain& chain) {
    if (auto* branch = stmt.as<If>()) {
        if (&unconditional(stmt) == &stmt) return fail("products are added under a condition");
        return add_under(*branch, chain);
    }
    if (chain.condition != nullptr && !chain.products.empty())
        return fail("products are added under a condition");
    const auto sum = product_sum(stmt);
    if (!sum) return fail("the innermost loop does more than adding products to a sum");
    if (sum->target != target || (sum->indices != nullptr) != is_element)
        return fail("several sums are added to");
    const bool rounds = sum->algebra.adds() && !is_complex(target->type.scalar);
    if (deterministic_ && !sum->fused && rounds)
        return fail("deterministic=True rounds these products before they are added");
    if (!chain.products.empty() && sum->fused != chain.fused)
        return fail("some of the products are fused into their additions");
    if (!chain.products.empty() && sum->algebra != chain.algebra)
        return fail("the sums of an iteration differ in their operators");
    chain.fused = sum->fused;
    chain.algebra = sum->algebra;
    if (is_element) {
        std::vector<Expr*> indices;
        for (const Expr* index : *sum->indices) {
            Expr* copy = plain(*index);
            if (copy == nullptr) return fail("the subscripts of the sum are computed");
            indices.push_back(copy);
        }
        if (!chain.products.empty() && !same(indices, chain.indices))
            return fail("several sums are added to");
        chain.indices = std::move(indices);
    }
    for (const Product& product : sum->products) {
        Product copy{{}, product.negative};
        for (std::size_t i = 0; i < 2; ++i) {
            copy.factors[i] = clone(module_, product.factors[i], values);
            const Expr& factor = *copy.factors[i];
            if (is_free(factor)) continue;
            if (!is_free(factor, VarSet{}))
                return fail("a factor depends on values that the loops compute");
            if (judge_.reads_apart(top_, stmt)) continue;  // other elements of the sums' array
            // A scalar sum may read the elements that it is stored to afterwards.
            if (is_element) return fail("a factor depends on values that the loops compute");
            chain.stored.push_back(&factor);
        }
        chain.products.push_back(copy);
    }
    return true;
}

// Whether all chains have the same sums; rewrites them to use the same variables.
bool NestOfSums::joins_alike() {
    const Chain& first = chains.front();
    for (Chain& chain : chains) {
        if (chain.fused != first.fused)
            return fail("some of the products are fused into their additions");
        if (chain.algebra != first.algebra)
            return fail("the ranges of steps differ in their operators");
        if (chain.condition != nullptr && chains.size() > 1)
            return fail("products are added under a condition");
    }
    if (!is_element) return true;
    for (std::size_t n = 1; n < chains.size(); ++n) {
        const Loops &mine = chains[n].of_sums, &others = first.of_sums;
        if (mine.size() != others.size()) return fail("the ranges of steps differ in form");
        Substitution to_first;
        for (std::size_t i = 0; i < mine.size(); ++i) {
            to_first.vars[mine[i]->var] = others[i]->var;
            same_loops.emplace_back(mine[i], others[i]);
            if (!same_bounds(*mine[i], *others[i], to_first))
                return fail("the ranges of steps have different columns");
        }
        const auto rename = [&](Expr*& e) { e = clone(module_, e, to_first); };
        std::ranges::for_each(chains[n].indices, rename);
        for (Product& product : chains[n].products)
            std::ranges::for_each(product.factors, rename);
        if (!same(chains[n].indices, first.indices)) return fail("several sums are added to");
    }
    return true;
}

Loops NestOfSums::of_sums() const {
    Loops sums;
    for (const Level& level : stem)
        sums.push_back(level.loop);
    for (For* loop : chains.front().of_sums)
        sums.push_back(loop);
    return sums;
}

}  // namespace parpy
