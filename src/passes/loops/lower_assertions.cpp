// See lower_assertions.h.
#include "passes/loops/lower_assertions.h"

#include <unordered_set>

#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/checks/instrument_bounds.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

Stmt* lowered(Module& module, const Assert& assertion, const LoopStack& loops) {
    Builder b(module, assertion.span);
    FailBuilder fail(b, Code::kP420);
    fail.site().message = "assertion failed";
    fail.site().message += assertion.message.empty() ? "" : ": ";
    for (const char c : assertion.message) {
        fail.site().message += c == '{' ? "{{" : std::string(1, c);
    }
    fail.note_iterations(loops);
    return b.if_(b.not_(assertion.condition), {fail.make()});
}

void lower(Module& module, Body& body, LoopStack& loops) {
    insert_before(body, loops, [&](Stmt& stmt, const LoopStack& around, Body& out) {
        if (const auto* assertion = stmt.as<Assert>()) {
            out.push_back(lowered(module, *assertion, around));
        }
    });
}

// Whether the statement does nothing but fail with an error about a subscript under a condition.
bool checks_subscript(const Module& module, const Stmt& stmt) {
    const auto* test = stmt.as<If>();
    if (test == nullptr || test->then_body.size() != 1 || !test->else_body.empty()) return false;
    const auto* fail = test->then_body.front()->as<Fail>();
    return fail != nullptr && module.sites[fail->site].code == Code::kP421;
}

}  // namespace

void lower_assertions(PassContext& context) {
    std::unordered_set<const Stmt*> open;  // checks of annotations that remain at run time
    for (const Function* function : context.module.functions) {
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            if (is_declared_check(context.module, stmt)) open.insert(stmt.as<If>()->else_body[0]);
        });
    }
    for (const Function* function : context.module.functions) {
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            const auto* fail = stmt.as<Fail>();
            if (fail == nullptr) return;
            const Site& site = context.module.sites[fail->site];
            const bool declared = site.code == Code::kP231 && !open.contains(fail);
            if (declared || site.code == Code::kP232 || site.code == Code::kP105 ||
                site.code == Code::kP016) {
                Diagnostic& made = context.diagnostics.error(site.code, stmt.span, site.message);
                made.help = site.help;
                made.python_may_call = site.python_may_call;
            }
        });
    }
    const bool checked = context.options.checks_assertions();
    const bool subscripts = checks_subscripts(context);
    for (Function* function : context.module.functions) {
        LoopStack loops;
        if (checked) {
            lower(context.module, function->body, loops);
        }
        rewrite_stmts(function->body, [&](Stmt* stmt, Body& out) {
            const bool dropped = !subscripts && checks_subscript(context.module, *stmt);
            if (stmt->kind != StmtKind::kAssert && !dropped) {
                out.push_back(stmt);
            }
        });
    }
}

}  // namespace parpy
