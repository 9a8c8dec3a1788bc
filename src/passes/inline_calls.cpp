// See inline_calls.h.
#include "passes/inline_calls.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

using FunctionSet = std::unordered_set<const Function*>;

// Whether the mapping names a loop of the function, or there is a mapping and a Gpu block.
bool is_mapped(const Function& function, const Options& options) {
    return any_stmt(function.body, [&](const Stmt& stmt) {
        return (stmt.kind == StmtKind::kGpu && !options.mapping.empty()) ||
               std::ranges::any_of(stmt.labels, [&](const std::string& label) {
                   return options.mapping.contains(label);
               });
    });
}

// Whether a statement stores slices of an array and reads other elements of it: the values may have
// to be kept apart, for which the entry alone has memory (lower_slices).
bool shifts_slices(const Function& function) {
    const auto is_slice = [](const Expr* e) { return e->op == Op::kSlice; };
    return any_stmt(function.body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        return store != nullptr && std::ranges::any_of(store->indices, is_slice) &&
               any_expr(*store->value, [&](const Expr& e) {
                   return e.var == store->array && e.op == Op::kLoad &&
                          !same(e.operands, store->indices);
               });
    });
}

// The functions whose calls are replaced though nobody asked for it, and those that call them.
FunctionSet functions_to_inline(const PassContext& context) {
    FunctionSet found;
    for (const Function* function : context.module.functions) {
        if (is_mapped(*function, context.options) || shifts_slices(*function))
            found.insert(function);
    }
    for (std::size_t before = 0; before != found.size();) {
        before = found.size();
        for (const Function* function : context.module.functions) {
            for_each_expr(function->body, [&](const Expr& e) {
                if (e.op == Op::kCall && found.contains(e.callee)) found.insert(function);
            });
        }
    }
    return found;
}

class Inliner {
public:
    Inliner(PassContext& context, const FunctionSet& wanted, const Function& function)
        : context_(context), module_(context.module), wanted_(wanted), open_{&function} {}

    void body(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            const auto* assign = stmt->as<Assign>();
            const Expr* call = assign != nullptr && !assign->update ? assign->value : nullptr;
            Body before;
            if (auto* store = stmt->as<Store>(); store != nullptr && !store->update) {
                // The value comes first, then the subscripts from the left.
                bool first = true;
                const auto next = [&](Expr*& slot) {
                    const bool moves = moves_with_effects(*slot);
                    expression(slot, first, before);
                    first = first && !moves;
                };
                next(store->value);
                for (Expr*& index : store->indices)
                    next(index);
            } else if (!stmt->as<While>()) {
                for_each_slot(*stmt,
                              [&](Expr*& slot) { expression(slot, !updates(*stmt), before); });
            }
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            const auto* evaluate = stmt->as<Evaluate>();
            bool done = evaluate != nullptr && evaluate->value == nullptr;
            if (call != nullptr && assign->value != nullptr && assign->value != call &&
                !mentions(before, *assign->var)) {
                before = clone(module_, before, {.vars = {{assign->value->var, assign->var}}});
                done = true;
            }
            out.insert(out.end(), before.begin(), before.end());
            if (!done) out.push_back(stmt);
        }
        stmts = std::move(out);
    }

private:
    static bool updates(const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        const auto* store = stmt.as<Store>();
        return (assign != nullptr && assign->update) || (store != nullptr && store->update);
    }

    // Whether it matters if something acts before or after the expression is evaluated.
    static bool moves_with_effects(const Expr& expr) {
        return any_expr(expr, [](const Expr& e) {
            return e.op == Op::kLoad || e.op == Op::kCall || has_effects(e.op);
        });
    }

    static bool mentions(const Body& body, const Var& var) {
        bool found = false;
        for_each_stmt(body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](const Var* v) { found = found || v == &var; });
        });
        for_each_expr(body, [&](const Expr& e) { found = found || e.var == &var; });
        return found;
    }

    // Replaces the marked calls in `slot`; their bodies go to `out`. A call for its effects becomes
    // null. `first`: nothing of the statement is evaluated before the expression.
    void expression(Expr*& slot, bool first, Body& out) {
        if (slot->op == Op::kAnd || slot->op == Op::kOr || slot->op == Op::kSelect) {
            expression(slot->operands[0], first, out);
            return;
        }
        for (Expr*& operand : slot->operands) {
            expression(operand, first && operand == slot->operands[0], out);
        }
        if (slot->op != Op::kCall || (!first && acts(*slot->callee))) return;
        const bool asked = slot->index == kInlineCall;
        if (!asked && !wanted_.contains(slot->callee)) return;
        slot->index = 0;
        const std::string problem = problem_of(*slot);
        if (problem.empty()) {
            slot = expand(*slot, out);
        } else if (asked && problem != kReportedLater) {
            context_.diagnostics
                .error(Code::kP228, slot->span,
                       "'" + slot->callee->name + "' cannot be put in place of its call: it " +
                           problem)
                .help = "call it without parpy.builtin.inline";
        }
    }

    // Whether running the function may change what was evaluated before it.
    static bool acts(const Function& function) {
        return any_stmt(function.body,
                        [](const Stmt& stmt) {
                            return stmt.kind == StmtKind::kStore ||
                                   stmt.kind == StmtKind::kEvaluate;
                        }) ||
               any_expr(function.body, [](const Expr& e) { return e.op == Op::kCall; });
    }

    // What keeps the call from being replaced, for a message; empty: nothing.
    std::string problem_of(const Expr& call) {
        const Function& callee = *call.callee;
        if (callee.params.size() != call.operands.size()) return kReportedLater;
        if (callee.kind == FunctionKind::kForeign) return "has no body";
        std::string problem;
        const Body& body = callee.body;
        for_each_stmt(body, [&](const Stmt& stmt) {
            if (stmt.kind == StmtKind::kReturn && &stmt != body.back()) {
                problem = "returns before its end";
            }
        });
        return std::ranges::count(open_, &callee) != 0 ? "calls itself" : problem;
    }

    static bool assigned_here(const Var& var, const Body& body) {
        return any_stmt(body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            return assign != nullptr && assign->var == &var;
        });
    }

    Expr* expand(const Expr& call, Body& out) {
        const Function& callee = *call.callee;
        std::unordered_set<const Var*> assigned;
        Substitution names;
        const auto own = [&](Var* var) {
            Var*& mine = names.vars[var];
            if (mine == nullptr) {
                mine = module_.make_like(*var);
                mine->constant = var->constant;
            }
        };
        for_each_stmt(callee.body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](Var* var) {
                if (stmt.kind != StmtKind::kStore) assigned.insert(var);
            });
        });
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            Var* param = callee.params[i];
            Expr* argument = call.operands[i];
            const bool names_variable = argument->op == Op::kVar || argument->op == Op::kArray;
            if (names_variable && !assigned.contains(param)) {
                names.vars[param] = argument->var;
                continue;
            }
            own(param);
            auto* copy = module_.make<Assign>(argument->span);
            copy->var = names.vars[param];
            copy->value = argument;
            out.push_back(copy);
        }
        for_each_stmt(callee.body, [&](const Stmt& stmt) { for_each_var(stmt, own); });
        for_each_expr(callee.body, [&](const Expr& expr) {
            if (expr.var != nullptr) own(expr.var);
        });
        Body copy = clone(module_, callee.body, names);
        open_.push_back(&callee);
        body(copy);
        open_.pop_back();
        Expr* result = nullptr;
        if (auto* last = copy.empty() ? nullptr : copy.back()->as<Return>()) {
            result = last->value;
            copy.pop_back();
        }
        out.insert(out.end(), copy.begin(), copy.end());
        if (result == nullptr || (result->op == Op::kVar && assigned_here(*result->var, copy))) {
            return result;
        }
        auto* assign = module_.make<Assign>(call.span);
        assign->var = module_.make_var(callee.name, Type::unknown(), call.span);
        assign->value = result;
        out.push_back(assign);
        Expr* read = module_.make_expr(Op::kVar, Type::unknown(), call.span);
        read->var = assign->var;
        return read;
    }

    static constexpr const char* kReportedLater = "-";  // with the types

    PassContext& context_;
    Module& module_;
    const FunctionSet& wanted_;
    std::vector<const Function*> open_;  // whose bodies are being expanded, outermost first
};

}  // namespace

void inline_calls(PassContext& context) {
    const FunctionSet wanted = functions_to_inline(context);
    for (Function* function : context.module.functions) {
        Inliner(context, wanted, *function).body(function->body);
    }
}

}  // namespace parpy
