// See host_calls.h.
#include "analysis/host_calls.h"

#include <unordered_set>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_host_call(const Expr& expr) {
    return expr.op == Op::kCall && is_of_host(*expr.callee);
}

const Expr* found_in(const Body& body, std::unordered_set<const Function*>& seen) {
    const Expr* found = nullptr;
    for_each_expr(body, [&](const Expr& expr) {
        if (found != nullptr || expr.op != Op::kCall) return;
        if (is_host_call(expr)) {
            found = &expr;
        } else if (seen.insert(expr.callee).second) {
            found = found_in(expr.callee->body, seen);
        }
    });
    return found;
}

}  // namespace

bool is_of_host(const Function& function) {
    return function.kind == FunctionKind::kForeign &&
           (function.target == kHost || function.target == kCudaHost);
}

const Expr* host_call(Stmt& stmt) {
    return host_call(Body{&stmt});
}

const Expr* host_call(const Body& body) {
    std::unordered_set<const Function*> seen;
    return found_in(body, seen);
}

}  // namespace parpy
