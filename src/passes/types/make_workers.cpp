// See make_workers.h.
#include "passes/types/make_workers.h"

#include "analysis/pragmas.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool has_vectors(const Body& body) {
    const bool leaves = any_stmt(body, [](const Stmt& s) { return s.kind == StmtKind::kReturn; });
    return !leaves && (contains_loop(body) || any_expr(body, [](const Expr& e) {
                           return e.op == Op::kSlice || e.op == Op::kReduce;
                       }));
}

Expr* number(Module& module, std::int64_t value, Span span) {
    Expr* expr = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), span);
    expr->constant.value = value;
    return expr;
}

void walk(Module& module, Body& body) {
    for (Stmt*& stmt : body) {
        if (!has_pragma(*stmt)) {
            for_each_body(*stmt, [&](Body& inner) { walk(module, inner); });
            continue;
        }
        auto* loop = stmt->as<For>();
        if (loop == nullptr || !pragma_of(*loop).sequential || !has_vectors(loop->body)) continue;
        auto* worker = module.make<For>(loop->span);
        worker->var = module.make_var("worker", Type::unknown(), loop->span);
        worker->begin = number(module, 0, loop->span);
        worker->end = number(module, 1, loop->span);
        worker->step = number(module, 1, loop->span);
        worker->body = {loop};
        worker->labels = {"pragma parallel"};
        stmt = worker;
    }
}

}  // namespace

void make_workers(PassContext& context) {
    for (Function* function : context.module.functions)
        walk(context.module, function->body);
}

}  // namespace parpy
