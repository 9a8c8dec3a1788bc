// See normalize_accesses.h. Expressions are taken apart in the order of their evaluation.
#include "passes/normalize_accesses.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

class Normalizer {
public:
    Normalizer(Module& module, const Function& function)
        : b_(module), unset_(exposed_reads(function.body)) {
        for (const Var* param : function.params)
            unset_.erase(param);
    }

    void body(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            b_.span = stmt->span;
            visit(*stmt, out);
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

private:
    void visit(Stmt& stmt, Body& out) {
        if (auto* assign = stmt.as<Assign>(); assign != nullptr && !assign->update) {
            value(assign->value, out);
        } else if (auto* store = stmt.as<Store>()) {
            if (!store->update) split(store->value, out);
            subscripts(*store, out);
            if (store->update) split(store->value, out);
        } else if (auto* evaluate = stmt.as<Evaluate>()) {
            value(evaluate->value, out);
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

    void condition(While& loop) {
        if (!watched(*loop.condition)) return;
        b_.span = loop.span;
        Body head;
        split(loop.condition, head);
        head.push_back(b_.if_(b_.not_(loop.condition), {b_.break_()}));
        loop.condition = b_.boolean(true);
        loop.body.insert(loop.body.begin(), head.begin(), head.end());
    }

    void subscripts(Store& store, Body& out) {
        for (Expr*& index : store.indices) {
            if (is_reduced(store)) {
                Expr* copy = clone(b_.module(), index);
                split(copy, out);
            } else {
                split(index, out);
            }
        }
    }

    bool is_reduced(const Store& store) const {
        return store.update && std::ranges::any_of(loops_, [&](const For* loop) {
                   return std::ranges::any_of(loop->mapping.reductions, [&](const Reduction& r) {
                       return r.var == store.array && same(r.indices, store.indices);
                   });
               });
    }

    // The whole value of a statement may itself be a load or call.
    void value(Expr*& expr, Body& out) {
        if (expr->op == Op::kLoad || expr->op == Op::kCall || expr->op == Op::kAtomic) {
            for (Expr*& operand : expr->operands)
                split(operand, out);
        } else {
            split(expr, out);
        }
    }

    bool watched(const Expr& expr) const {
        bool found = false;
        for_each_expr(expr, [&](const Expr& e) {
            found |= e.op == Op::kLoad || e.op == Op::kCall || e.op == Op::kAtomic ||
                     (e.op == Op::kVar && unset_.contains(e.var));
        });
        return found;
    }

    // What is watched in `expr` goes to `out`; `expr` keeps the rest.
    void split(Expr*& expr, Body& out) {
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
            if (expr->op == Op::kLoad || expr->op == Op::kAtomic) {
                expr = named(expr->var->name + "_value", expr, out);
            } else if (expr->op == Op::kCall) {
                expr = named(expr->callee->name + "_result", expr, out);
            }
        }
    }

    Expr* named(std::string name, Expr* expr, Body& out) {
        Var* var = b_.scalar(std::move(name), expr->type.scalar);
        out.push_back(b_.assign(var, expr));
        return b_.var(var);
    }

    void split_logical(Expr*& expr, Body& out) {
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

    void split_select(Expr*& expr, Body& out) {
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

    Builder b_;
    VarSet unset_;  // variables that may be read without a value
    LoopStack loops_;
};

}  // namespace

void normalize_accesses(PassContext& context) {
    for (Function* function : context.module.functions) {
        Normalizer(context.module, *function).body(function->body);
    }
}

}  // namespace parpy
