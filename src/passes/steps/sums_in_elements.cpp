// See sums_in_elements.h.
#include "passes/steps/sums_in_elements.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

std::size_t mentions(const Body& body, const Var& scalar) {
    std::size_t count = 0;
    for_each_expr(body, [&](const Expr& e) { count += e.op == Op::kVar && e.var == &scalar; });
    for_each_stmt(body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        count += assign != nullptr && assign->var == &scalar;
    });
    return count;
}

// Whether `scalar` is read only by statements that assign it.
bool is_summed_up(const Stmt& stmt, const Var& scalar) {
    return !any_stmt(Body{const_cast<Stmt*>(&stmt)}, [&](const Stmt& each) {
        const auto* assign = each.as<Assign>();
        if (assign != nullptr && assign->var == &scalar) return false;
        bool read = false;
        for_each_slot(
            each, [&](const Expr* slot) { read = read || uses_of(*slot).read.contains(&scalar); });
        return read;
    });
}

}  // namespace

SumsInElements::SumsInElements(Module& module, For& loop) : module_(module), loop_(loop) {
    rewrite_in(loop.body);
}

void SumsInElements::rewrite_in(Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (rewrite_sum(body, i)) --i;
    }
    for (Stmt* stmt : body)
        for_each_body(*stmt, [&](Body& inner) { rewrite_in(inner); });
}

// Rewrites the sum that the statement with this number begins, if there is one.
bool SumsInElements::rewrite_sum(Body& body, std::size_t first) {
    const auto* begin = body[first]->as<Assign>();
    if (begin == nullptr || begin->update || begin->value->op != Op::kLoad) return false;
    Var& scalar = *begin->var;
    const Expr& element = *begin->value;
    if (scalar.type != Type::of(element.var->type.scalar)) return false;
    const auto ends = [&](const Stmt* stmt) {
        const auto* store = stmt->as<Store>();
        return store != nullptr && !store->update && !store->atomic &&
               store->array == element.var && same(store->indices, element.operands) &&
               store->value->op == Op::kVar && store->value->var == &scalar;
    };
    const auto from = body.begin() + static_cast<std::ptrdiff_t>(first);
    const auto last = std::find_if(from, body.end(), ends);
    if (last == body.end()) return false;
    Body between(from + 1, last);
    const Uses uses = uses_of(between);
    const bool simple = std::ranges::all_of(element.operands, [&](const Expr* index) {
        return uses_of(*index).loaded.empty() && invariant(*index, uses);
    });
    const bool sums = std::ranges::all_of(between, [&](const Stmt* stmt) {
        return stmt->kind == StmtKind::kFor && is_summed_up(*stmt, scalar);
    });
    // Two of them begin and end the sum.
    const bool alone = mentions(between, scalar) + 2 == mentions(loop_.body, scalar);
    if (!simple || !sums || !alone) return false;

    Builder b(module_, body[first]->span);
    const auto indices = [&] {
        std::vector<Expr*> result;
        for (const Expr* index : element.operands)
            result.push_back(clone(module_, index));
        return result;
    };
    for (Stmt* top : between) {
        rewrite_stmts(top->as<For>()->body, [&](Stmt* stmt, Body& out) {
            const auto* assign = stmt->as<Assign>();
            if (assign == nullptr || assign->var != &scalar) return out.push_back(stmt);
            b.span = stmt->span;
            Store* store = assign->update
                               ? b.update(element.var, indices(), *assign->update, assign->value)
                               : b.store(element.var, indices(), assign->value);
            rewrite_slots(*store, [&](Expr* e) {
                return e->op == Op::kVar && e->var == &scalar ? b.load(element.var, indices()) : e;
            });
            updates_.emplace_back(top->as<For>(), store);
            out.push_back(store);
        });
    }
    body.erase(last);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(first));
    return true;
}

bool SumsInElements::proved(ParallelLoops& loops) const {
    return std::ranges::all_of(
        updates_, [&](const auto& each) { return loops.reads_apart(*each.first, *each.second); });
}

}  // namespace parpy
