// See guard_recursion.h.
#include "passes/checks/guard_recursion.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

using Callees = std::unordered_map<const Function*, std::unordered_set<const Function*>>;

Callees callees_of(const Module& module) {
    Callees callees;
    for (const Function* function : module.functions) {
        for_each_expr(function->body, [&](const Expr& e) {
            if (e.op == Op::kCall) callees[function].insert(e.callee);
        });
    }
    return callees;
}

bool reaches_itself(const Callees& callees, const Function* function) {
    std::unordered_set<const Function*> seen;
    std::vector<const Function*> pending = {function};
    while (!pending.empty()) {
        const auto found = callees.find(pending.back());
        pending.pop_back();
        if (found == callees.end()) continue;
        if (found->second.contains(function)) return true;
        for (const Function* callee : found->second) {
            if (seen.insert(callee).second) pending.push_back(callee);
        }
    }
    return false;
}

Body guard(Builder& b, const Function& function, Var* limit) {
    b.span = function.span;
    FailBuilder fail(b, Code::kP424);
    fail.site().message = "maximum recursion depth exceeded";
    fail.site().help = "compiled calls nest as deeply as the thread's stack allows; use a loop";
    Expr* nothing = function.result.is_scalar()
                        ? b.constant(function.result, Constant{std::int64_t{0}})
                        : nullptr;
    Expr* used_up = b.binary(Op::kLt, b.reg(Register::kStackPointer), b.var(limit));
    return {b.if_(used_up, {fail.make(), b.return_(nothing)})};
}

}  // namespace

void guard_recursion(PassContext& context) {
    Module& module = context.module;
    if (module.functions.size() == 1) return;
    Builder b(module);
    const Callees callees = callees_of(module);
    std::unordered_map<const Function*, Var*> limits;  // of the functions that reach themselves
    for (Function* function : module.functions) {
        if (reaches_itself(callees, function)) {
            limits[function] = b.scalar("lowest_frame", Scalar::kI64);
        }
    }
    for (Function* function : module.functions) {
        const auto own = limits.find(function);
        for_each_expr(function->body, [&](Expr& e) {
            if (e.op != Op::kCall || !limits.contains(e.callee)) return;
            b.span = e.span;
            e.operands.push_back(own != limits.end() ? b.var(own->second)
                                                     : b.reg(Register::kStackLimit));
        });
        if (own == limits.end()) continue;
        function->params.push_back(own->second);
        const Body head = guard(b, *function, own->second);
        function->body.insert(function->body.begin(), head.begin(), head.end());
    }
}

}  // namespace parpy
