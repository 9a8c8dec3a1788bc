// See inline_arrays.h.
#include "passes/values/inline_arrays.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/value_memory.h"
#include "passes/types/function_names.h"

namespace parpy {

using namespace ir;

namespace {

bool ends_with_return(const Function& function) {
    int returns = 0;
    for_each_stmt(function.body,
                  [&](const Stmt& stmt) { returns += stmt.kind == StmtKind::kReturn ? 1 : 0; });
    return returns == 1 && function.body.back()->kind == StmtKind::kReturn;
}

// The name of a variable that a call may read before it assigns it: inlined, it would have the
// value of the previous call. Empty: none.
std::string may_be_unset(const Function& function) {
    for (const Var* var : exposed_reads(function.body)) {
        const bool given = std::ranges::find(function.params, var) != function.params.end();
        if (!given && var->constant == nullptr) return var->shown();
    }
    for (const Var* name : unbound_names(function.body)) {
        return name->shown();
    }
    return {};
}

// Whether it has effects other than stores to arrays. `open`: functions whose calls are being
// followed; their own effects are judged elsewhere.
bool acts(const Function& function, std::unordered_set<const Function*>& open) {
    if (function.kind == FunctionKind::kForeign) return true;
    if (!open.insert(&function).second) return false;
    const auto is_seen = [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kPrint || stmt.kind == StmtKind::kGpu;
    };
    return any_stmt(function.body, is_seen) || any_expr(function.body, [&](const Expr& e) {
               return e.op == Op::kCall ? acts(*e.callee, open) : has_effects(e.op);
           });
}

// Whether the function has no visible effect except failure: it stores only to arrays of its own,
// as do the functions that receive these.
bool is_pure(const Function& function) {
    std::unordered_set<const Function*> open;
    return !acts(function, open) && std::ranges::none_of(function.params, [](const Var* param) {
        return param->type.is_array() && param->written;
    });
}

// An upper bound of the number of selected elements, if it is known.
std::optional<std::int64_t> most_elements(const Expr& load) {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < load.operands.size(); ++i) {
        if (load.operands[i]->op != Op::kSlice) continue;
        if (i >= load.var->dims.size() || !load.var->dims[i].extent) return std::nullopt;
        count *= *load.var->dims[i].extent;
    }
    return count;
}

// Whether a called function has memory for the new array.
bool is_small(const Expr& value) {
    if (value.op == Op::kEmpty) return is_small(*value.operands[0]);
    const std::int64_t most = kMostLocalBytes / std::max(size_in_bytes(value.type.scalar), 1);
    if (value.op == Op::kFull) {
        std::int64_t count = 1;
        return std::all_of(value.operands.begin() + 1, value.operands.end(), [&](const Expr* e) {
            count *= constant_integer(e).value_or(0);
            return constant_integer(e).has_value() && count <= most;
        });
    }
    return !any_expr(value, [&](const Expr& e) {
        return e.op == Op::kLoad && most_elements(e).value_or(most + 1) > most;
    });
}

// Whether the name gets the array that a function returns, not numbers from calls for its elements.
bool is_returned(const Bind& bind) {
    const Expr& value = *bind.value;
    return value.op == Op::kCall && value.callee->kind != FunctionKind::kForeign &&
           (std::ranges::any_of(value.callee->params,
                                [](const Var* param) { return param->type.is_array(); }) ||
            any_stmt(value.callee->body,
                     [](const Stmt& stmt) { return stmt.kind == StmtKind::kBind; }) ||
            any_expr(value.callee->body,
                     [](const Expr& e) { return e.op == Op::kLoad || is_of_slices(e.op); }));
}

bool makes_arrays(const Function& function) {
    return any_stmt(function.body, [](const Stmt& stmt) {
        const auto* bind = stmt.as<Bind>();
        return bind != nullptr && bind->fresh && (is_returned(*bind) || !is_small(*bind->value));
    });
}

bool calls_itself(const Function& function) {
    std::unordered_set<const Function*> called;
    std::vector<const Function*> open{&function};
    while (!open.empty()) {
        const Function& each = *open.back();
        open.pop_back();
        for_each_expr(each.body, [&](const Expr& e) {
            if (e.op == Op::kCall && called.insert(e.callee).second) open.push_back(e.callee);
        });
    }
    return called.contains(&function);
}

// Functions that return numbers and need memory that only the entry has, or call such functions.
std::unordered_set<const Function*> functions_with_memory(const Module& module) {
    std::unordered_set<const Function*> found;
    if (is_by_hand(*module.entry_function())) return found;
    for (bool changed = true; std::exchange(changed, false);) {
        for (const Function* function : module.functions) {
            if (function->kind != FunctionKind::kHelper || !function->result.is_scalar() ||
                found.contains(function) || !ends_with_return(*function) ||
                !may_be_unset(*function).empty() || !is_pure(*function))
                continue;
            const bool calls = any_expr(function->body, [&](const Expr& e) {
                return e.op == Op::kCall && found.contains(e.callee);
            });
            if (calls_itself(*function) || !(calls || makes_arrays(*function))) continue;
            changed = found.insert(function).second;
        }
    }
    return found;
}

class Inliner {
public:
    explicit Inliner(PassContext& context)
        : context_(context), module_(context.module), b_(context.module) {}

    void body(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            auto* bind = stmt->as<Bind>();
            if (bind != nullptr && is_returned(*bind)) {
                call(*bind, out);
                continue;
            }
            if (!needs_memory.empty()) numbers(*stmt, out);
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // Functions that return arrays and have no calls any more.
    std::unordered_set<const Function*> inlined;
    // Functions that return numbers and need memory of the entry: calls that are always evaluated
    // are inlined.
    std::unordered_set<const Function*> needs_memory;

private:
    // Inlines the calls of those functions in the statement.
    void numbers(Stmt& stmt, Body& out) {
        if (auto* loop = stmt.as<While>()) {
            if (!any_expr(*loop->condition, [&](const Expr& e) { return is_number_of(e); })) return;
            b_.test_inside(*loop, {});
            return;
        }
        int calls = 0;
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                calls += e.op == Op::kCall && !is_pure(*e.callee) ? 1 : 0;
            });
        });
        if (calls > 0) return;  // a call may have to run first
        for_each_slot(stmt, [&](Expr*& slot) { slot = number(slot, out); });
    }

    bool is_number_of(const Expr& e) const {
        return e.op == Op::kCall && needs_memory.contains(e.callee) &&
               std::ranges::find(open_, e.callee) == open_.end();
    }

    Expr* number(Expr* e, Body& out) {
        const std::size_t evaluated = has_branches(e->op) ? 1 : e->operands.size();
        for (std::size_t i = 0; i < evaluated; ++i)
            e->operands[i] = number(e->operands[i], out);
        if (!is_number_of(*e)) return e;
        Function* copy = begin(*e, out);
        auto* end = copy->body.back()->as<Return>();
        copy->body.pop_back();
        Var* result = b_.scalar(copy->name + "_result", e->type.scalar);
        copy->body.push_back(b_.assign(result, end->value));
        finish(*copy, out);
        b_.span = e->span;
        return b_.var(result);
    }

    void call(const Bind& bind, Body& out) {
        const Expr& e = *bind.value;
        const Function& callee = *e.callee;
        inlined.insert(&callee);
        if (std::ranges::find(open_, &callee) != open_.end())
            return refuse(e, "an array and calls itself");
        if (!ends_with_return(callee)) return refuse(e, "an array before its end");
        if (const std::string name = may_be_unset(callee); !name.empty())
            return refuse(e, "an array and may read '" + name + "' before it has a value");
        Function* copy = begin(e, out);
        auto* end = copy->body.back()->as<Return>();
        copy->body.pop_back();
        auto* result = module_.make<Bind>(bind.span);
        result->array = bind.array;
        result->value = end->value;
        result->fresh = !is_view(*end->value);
        result->labels = bind.labels;
        copy->body.push_back(result);
        finish(*copy, out);
    }

    // A copy of the called function with variables of its own, whose body is inserted; `out` gets
    // the assignments to its parameters.
    Function* begin(const Expr& e, Body& out) {
        const Function& callee = *e.callee;
        open_.push_back(&callee);
        Substitution substitution;
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            if (Var* array = array_passed(*e.operands[i]))
                substitution.vars[callee.params[i]] = array;
        }
        Function* copy = clone_function(module_, callee, callee.name, substitution);
        std::erase(module_.functions, copy);
        b_.span = e.span;
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            if (array_passed(*e.operands[i]) == nullptr)
                out.push_back(b_.assign(copy->params[i], e.operands[i]));
        }
        return copy;
    }

    void finish(Function& copy, Body& out) {
        body(copy.body);
        open_.pop_back();
        out.insert(out.end(), copy.body.begin(), copy.body.end());
    }

    void refuse(const Expr& call, const std::string& why) {
        auto& error = context_.diagnostics.error(
            Code::kP228, call.span, "'" + shown_name(module_, *call.callee) + "' returns " + why);
        error.help = "pass it the array to store to";
        error.python_may_call = true;
    }

    PassContext& context_;
    Module& module_;
    Builder b_;
    std::vector<const Function*> open_;
};

// Marks arrays as written that are written under the name of a part.
void spread_writes(const Module& module) {
    bool changed = true;
    const auto write = [&](Var* array) {
        changed = changed || !array->written;
        array->written = true;
    };
    while (std::exchange(changed, false)) {
        for (const Function* function : module.functions) {
            for_each_stmt(function->body, [&](const Stmt& stmt) {
                const auto* bind = stmt.as<Bind>();
                if (bind != nullptr && !bind->fresh && bind->array->written)
                    write(viewed(*bind->value).var);
            });
            for_each_expr(function->body, [&](const Expr& e) {
                if (e.op != Op::kCall || e.callee->kind == FunctionKind::kForeign) return;
                for (std::size_t i = 0; i < e.callee->params.size(); ++i) {
                    Var* array = array_passed(*e.operands[i]);
                    if (array != nullptr && e.callee->params[i]->written) write(array);
                }
            });
        }
    }
}

}  // namespace

void inline_arrays(PassContext& context) {
    Module& module = context.module;
    Inliner inliner(context);
    std::unordered_set<const Function*> arrays;
    for (const Function* function : module.functions) {
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            const auto* bind = stmt.as<Bind>();
            if (bind != nullptr && is_returned(*bind)) arrays.insert(bind->value->callee);
        });
    }
    inliner.needs_memory = functions_with_memory(module);
    if (arrays.empty() && inliner.needs_memory.empty()) return;
    for (Function* function : std::vector<Function*>(module.functions)) {
        if (!arrays.contains(function)) inliner.body(function->body);
    }
    if (context.diagnostics.has_errors()) return;
    spread_writes(module);
    const Function* entry = module.entry_function();
    std::erase_if(module.functions, [&](const Function* f) { return arrays.contains(f); });
    for (bool changed = true; std::exchange(changed, false);) {
        std::unordered_set<const Function*> called;
        for (const Function* function : module.functions) {
            for_each_expr(function->body, [&](const Expr& e) {
                if (e.op == Op::kCall && e.callee != function) called.insert(e.callee);
            });
        }
        changed = std::erase_if(module.functions, [&](const Function* f) {
                      return inliner.needs_memory.contains(f) && !called.contains(f);
                  }) > 0;
    }
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, entry) -
                                            module.functions.begin());
}

}  // namespace parpy
