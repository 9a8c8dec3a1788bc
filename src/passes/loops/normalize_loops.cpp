// Gives a loop a counter of its own if its variable is assigned, or read after the loop.
#include "passes/loops/normalize_loops.h"

#include <unordered_map>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

void normalize_loops(PassContext& context) {
    for (Function* function : context.module.functions) {
        const Liveness liveness(*function);
        std::unordered_map<const Var*, int> loops;  // that use the variable
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            if (const auto* loop = stmt.as<For>()) {
                ++loops[loop->var];
            }
        });
        for_each_stmt(function->body, [&](Stmt& stmt) {
            auto* loop = stmt.as<For>();
            if (loop == nullptr) {
                return;
            }
            const bool assigned = uses_of(loop->body).written.contains(loop->var);
            if (!assigned && !liveness.after(loop).contains(loop->var) && loops[loop->var] == 1) {
                return;
            }
            Var* counter = context.module.make_like(*loop->var);
            if (!assigned) {  // inside, the two are the same
                for_each_expr(loop->body, [&](Expr& expr) {
                    expr.var = expr.var == loop->var ? counter : expr.var;
                });
            }
            Builder b(context.module, loop->span);
            loop->body.insert(loop->body.begin(), b.assign(loop->var, b.var(counter)));
            loop->var = counter;
        });
    }
}

}  // namespace parpy
