// See evaluation_steps.h.
#include "passes/slices/evaluation_steps.h"

#include <algorithm>
#include <utility>

#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool reaches_memory(const Expr& node) {
    return (node.op == Op::kLoad && !is_row(node)) || node.op == Op::kAtomic ||
           node.op == Op::kCall;
}

void EvaluationSteps::body(Body& stmts) {
    Body out;
    out.reserve(stmts.size());
    for (Stmt* stmt : stmts) {
        b_.span = stmt->span;
        visit(*stmt, out);
        out.push_back(stmt);
    }
    stmts = std::move(out);
}

void EvaluationSteps::hold(Builder& builder, std::string name, Expr*& expr, Body& out) {
    Var* var = builder.scalar(std::move(name), expr->type.scalar);
    out.push_back(builder.assign(var, expr));
    expr = builder.var(var);
}

void EvaluationSteps::visit(Stmt& stmt, Body& out) {
    if (auto* assign = stmt.as<Assign>(); assign != nullptr && !assign->update) {
        split(assign->value, out, true);
    } else if (auto* store = stmt.as<Store>()) {
        if (store->update) {
            update(*store, out);
        } else {
            split(store->value, out);
            subscripts(*store, out);
        }
    } else if (auto* evaluate = stmt.as<Evaluate>()) {
        split(evaluate->value, out, true);
    } else if (auto* loop = stmt.as<For>()) {
        split(loop->begin, out);
        split(loop->end, out);
        split(loop->step, out);
        loops_.push_back(loop);
        body(loop->body);
        loops_.pop_back();
    } else if (auto* spin = stmt.as<While>()) {
        body(spin->body);
        condition(*spin);
    } else {
        for_each_slot(stmt, [&](Expr*& slot) { split(slot, out); });
        for_each_body(stmt, [&](Body& inner) { body(inner); });
    }
}

// Python's order: the subscripts, the old value, then the new one, whose calls may write the
// element. Old values of slices are read last.
void EvaluationSteps::update(Store& store, Body& out) {
    bool writes = false;
    for_each_expr(*store.value, [&](const Expr& e) {
        for_each_written_array(e,
                               [&](const Var& array) { writes |= may_share(array, *store.array); });
    });
    const bool sliced = std::ranges::any_of(
        store.indices, [](const Expr* index) { return is_of_slices(index->op); });
    subscripts(store, out);
    if (writes && !sliced && watched(*store.value) && !store.atomic && !is_reduced(store)) {
        std::vector<Expr*> indices;
        for (Expr*& index : store.indices) {
            hold(b_, "index", index, out);
            indices.push_back(clone(b_.module(), index));
        }
        Expr* old = b_.load(store.array, std::move(indices));
        hold(b_, store.array->name + "_value", old, out);
        split(store.value, out);
        store.value = b_.updated(old, *store.update, store.value);
        store.update.reset();
    } else {
        split(store.value, out);
    }
}

void EvaluationSteps::condition(While& loop) {
    if (!watched(*loop.condition)) return;
    b_.span = loop.span;
    Body head;
    split(loop.condition, head);
    head.push_back(b_.if_(b_.not_(loop.condition), {b_.break_()}));
    loop.condition = b_.boolean(true);
    loop.body.insert(loop.body.begin(), head.begin(), head.end());
}

void EvaluationSteps::subscripts(Store& store, Body& out) {
    for (Expr*& index : store.indices) {
        if (is_reduced(store)) {
            Expr* copy = clone(b_.module(), index);
            split(copy, out);
        } else {
            split(index, out);
        }
    }
}

bool EvaluationSteps::is_reduced(const Store& store) const {
    return store.update && std::ranges::any_of(loops_, [&](const For* loop) {
               return std::ranges::any_of(loop->mapping.reductions, [&](const Reduction& r) {
                   return r.var == store.array && same(r.indices, store.indices);
               });
           });
}

bool EvaluationSteps::watched(const Expr& expr) {
    const auto known = watched_.find(&expr);
    if (known != watched_.end()) return known->second;
    const bool found = watch_(expr) || std::ranges::any_of(expr.operands, [&](const Expr* operand) {
                           return watched(*operand);
                       });
    watched_.emplace(&expr, found);
    return found;
}

// Moves the steps of `expr` to `out`; `expr` keeps the rest.
void EvaluationSteps::split(Expr*& expr, Body& out, bool whole) {
    if (!watched(*expr)) return;
    const bool is_logical = expr->op == Op::kAnd || expr->op == Op::kOr;
    if (is_logical && watched(*expr->operands[1])) {
        split_logical(expr, out);
    } else if (expr->op == Op::kSelect &&
               (watched(*expr->operands[1]) || watched(*expr->operands[2]))) {
        split_select(expr, out);
    } else {
        for (Expr*& operand : expr->operands)
            split(operand, out);
        if (watch_(*expr)) take_({expr, out, whole, loops_});
    }
}

void EvaluationSteps::split_logical(Expr*& expr, Body& out) {
    Expr* left = expr->operands[0];
    Expr* right = expr->operands[1];
    Var* test = b_.scalar("test", Scalar::kBool);
    split(left, out);
    out.push_back(b_.assign(test, left));
    Body inner;
    split(right, inner);
    inner.push_back(b_.assign(test, right));
    const bool is_and = expr->op == Op::kAnd;
    out.push_back(b_.if_(is_and ? b_.var(test) : b_.not_(b_.var(test)), std::move(inner)));
    expr = b_.var(test);
}

void EvaluationSteps::split_select(Expr*& expr, Body& out) {
    Expr* condition = expr->operands[0];
    Var* choice = b_.scalar("choice", expr->type.scalar);
    split(condition, out);
    Body branches[2];
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        Expr* value = expr->operands[i + 1];
        split(value, branches[i]);
        branches[i].push_back(b_.assign(choice, value));
    }
    out.push_back(b_.if_(condition, std::move(branches[0]), std::move(branches[1])));
    expr = b_.var(choice);
}

}  // namespace parpy
