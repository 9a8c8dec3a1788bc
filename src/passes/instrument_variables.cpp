// See instrument_variables.h.
#include "passes/instrument_variables.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

class VariableChecks {
public:
    VariableChecks(Module& module, Function& function) : b_(module), function_(function) {}

    void run() {
        VarSet unset = exposed_reads(function_.body);
        for (const Var* param : function_.params) {
            unset.erase(param);
        }
        Body head;
        for (Var* var : unset) {
            if (var->constant) continue;
            set_[var] = b_.scalar(var->name + "_set", Scalar::kBool);
            head.push_back(b_.assign(set_[var], b_.boolean(false)));
        }
        if (head.empty()) return;
        LoopStack loops;
        insert_before(function_.body, loops, [&](Stmt& stmt, const LoopStack& around, Body& out) {
            check(stmt, around, out);
        });
        rewrite_stmts(function_.body, [&](Stmt* stmt, Body& out) {
            out.push_back(stmt);
            const auto* assign = stmt->as<Assign>();
            if (assign != nullptr && set_.contains(assign->var)) {
                b_.span = stmt->span;
                out.push_back(b_.assign(set_[assign->var], b_.boolean(true)));
            }
        });
        function_.body.insert(function_.body.begin(), head.begin(), head.end());
    }

private:
    void check(const Stmt& stmt, const LoopStack& loops, Body& out) {
        VarSet done;
        const auto read = [&](Var* var, Span span) {
            if (!set_.contains(var) || !done.insert(var)) return;
            b_.span = span.valid() ? span : stmt.span;
            FailBuilder fail(b_, Code::kP423);
            fail.site().message = "'" + var->name + "' is read before it has a value";
            fail.site().help = "assign it on every path that leads here";
            fail.note_iterations(loops);
            Fail* failure = fail.make();
            b_.span = failure->span = stmt.span;
            out.push_back(b_.if_(b_.not_(b_.var(set_.at(var))), {failure}));
        };
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                if (e.op == Op::kVar) read(e.var, e.span);
            });
        });
        if (const auto* assign = stmt.as<Assign>(); assign != nullptr && assign->update) {
            read(assign->var, stmt.span);
        }
    }

    Builder b_;
    Function& function_;
    std::unordered_map<const Var*, Var*> set_;  // whether the variable has a value
};

}  // namespace

void instrument_variables(PassContext& context) {
    for (Function* function : context.module.functions) {
        VariableChecks(context.module, *function).run();
    }
}

}  // namespace parpy
