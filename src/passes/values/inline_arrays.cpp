// See inline_arrays.h.
#include "passes/values/inline_arrays.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/function_names.h"

namespace parpy {

using namespace ir;

namespace {

class Inliner {
public:
    explicit Inliner(PassContext& context)
        : context_(context), module_(context.module), b_(context.module) {}

    void body(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            auto* bind = stmt->as<Bind>();
            if (bind != nullptr && bind->value->op == Op::kCall) {
                call(*bind, out);
                continue;
            }
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // Functions that return arrays: nobody calls them any more.
    std::unordered_set<const Function*> inlined;

private:
    void call(const Bind& bind, Body& out) {
        const Expr& e = *bind.value;
        const Function& callee = *e.callee;
        inlined.insert(&callee);
        if (std::ranges::find(open_, &callee) != open_.end())
            return refuse(e, "an array and calls itself");
        if (!ends_with_return(callee)) return refuse(e, "an array before its end");
        if (const std::string name = may_be_unset(callee); !name.empty())
            return refuse(e, "an array and may read '" + name + "' before it has a value");
        open_.push_back(&callee);
        Substitution substitution;
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            if (Var* array = array_passed(*e.operands[i]))
                substitution.vars[callee.params[i]] = array;
        }
        // A copy with variables of its own, of which the body alone is used.
        Function* copy = clone_function(module_, callee, callee.name, substitution);
        std::erase(module_.functions, copy);
        b_.span = e.span;
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            if (array_passed(*e.operands[i]) == nullptr)
                out.push_back(b_.assign(copy->params[i], e.operands[i]));
        }
        auto* end = copy->body.back()->as<Return>();
        copy->body.pop_back();
        auto* result = module_.make<Bind>(bind.span);
        result->array = bind.array;
        result->value = end->value;
        result->fresh = !is_view(*end->value);
        result->labels = bind.labels;
        copy->body.push_back(result);
        body(copy->body);
        open_.pop_back();
        out.insert(out.end(), copy->body.begin(), copy->body.end());
    }

    static bool ends_with_return(const Function& function) {
        int returns = 0;
        for_each_stmt(function.body,
                      [&](const Stmt& stmt) { returns += stmt.kind == StmtKind::kReturn ? 1 : 0; });
        return returns == 1 && function.body.back()->kind == StmtKind::kReturn;
    }

    // A variable that a call may read without having set it: it would have the value of the call
    // before. Empty: none.
    static std::string may_be_unset(const Function& function) {
        for (const Var* var : exposed_reads(function.body)) {
            const bool given = std::ranges::find(function.params, var) != function.params.end();
            if (!given && var->constant == nullptr) return var->shown();
        }
        for (const Var* name : unbound_names(function.body)) {
            return name->shown();
        }
        return {};
    }

    void refuse(const Expr& call, const std::string& why) {
        context_.diagnostics
            .error(Code::kP228, call.span,
                   "'" + shown_name(module_, *call.callee) + "' returns " + why)
            .help = "hand it the array to store to";
    }

    PassContext& context_;
    Module& module_;
    Builder b_;
    std::vector<const Function*> open_;
};

// A name may be a part of an array now, which is stored to under that name.
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
            if (bind != nullptr && bind->value->op == Op::kCall) arrays.insert(bind->value->callee);
        });
    }
    if (arrays.empty()) return;
    for (Function* function : std::vector<Function*>(module.functions)) {
        if (!arrays.contains(function)) inliner.body(function->body);
    }
    if (context.diagnostics.has_errors()) return;
    spread_writes(module);
    const Function* entry = module.entry_function();
    std::erase_if(module.functions, [&](const Function* f) { return arrays.contains(f); });
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, entry) -
                                            module.functions.begin());
}

}  // namespace parpy
