// See host_calls.h.
#include "analysis/host_calls.h"

#include <unordered_set>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

const Expr* found_in(const Body& body, std::unordered_set<const Function*>& seen) {
    const Expr* found = nullptr;
    for_each_expr(body, [&](const Expr& expr) {
        if (found != nullptr || expr.op != Op::kCall) return;
        if (expr.callee->kind == FunctionKind::kForeign) {
            if (expr.callee->target == kHost) found = &expr;
        } else if (seen.insert(expr.callee).second) {
            found = found_in(expr.callee->body, seen);
        }
    });
    return found;
}

}  // namespace

const Expr* host_call(const Body& body) {
    std::unordered_set<const Function*> seen;
    return found_in(body, seen);
}

}  // namespace parpy
