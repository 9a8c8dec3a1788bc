// See stored_parameters.h.
#include "analysis/memory/stored_parameters.h"

#include <vector>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// fn(x) for each variable that the value may be, or be a part of.
template <class F>
void for_each_root(const Expr& value, const F& fn) {
    switch (value.op) {
        case Op::kVar:
        case Op::kArray:
        case Op::kLoad:
            fn(value.var);
            break;
        case Op::kSelect:
        case Op::kAnd:
        case Op::kOr:
            for (const Expr* operand : value.operands) {
                for_each_root(*operand, fn);
            }
            break;
        default:
            break;
    }
}

}  // namespace

VarSet possibly_stored(const Function& function) {
    VarSet stored = uses_of(function.body).stored;
    for_each_expr(function.body, [&](const Expr& e) {
        if (e.op != Op::kCall) return;
        for (const Expr* operand : e.operands) {
            for_each_root(*operand, [&](Var* var) { stored.insert(var); });
        }
    });
    std::vector<const Assign*> names;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr) return;
        if (assign->update) stored.insert(assign->var);  // in place, if it is an array
        names.push_back(assign);
    });
    for (bool more = true; more;) {
        more = false;
        for (const Assign* assign : names) {
            if (assign->update || !stored.contains(assign->var)) continue;
            for_each_root(*assign->value, [&](Var* var) { more = stored.insert(var) || more; });
        }
    }
    return stored;
}

}  // namespace parpy
