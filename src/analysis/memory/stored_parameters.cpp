// See stored_parameters.h.
#include "analysis/memory/stored_parameters.h"

#include <algorithm>
#include <vector>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the value may be a tuple or object, whose parts are the values put into it, not copies.
bool may_be_tuple(const Expr& value, const VarSet& tuples) {
    switch (value.op) {
        case Op::kTuple:
        case Op::kRecord:
        case Op::kItem:
        case Op::kField:
        case Op::kCall:
        case Op::kApply:
            return true;
        case Op::kVar:
        case Op::kLoad:
            return tuples.contains(value.var);
        case Op::kAdd:
        case Op::kMul:
        case Op::kSelect:
        case Op::kAnd:
        case Op::kOr:
            return std::ranges::any_of(value.operands, [&](const Expr* operand) {
                return may_be_tuple(*operand, tuples);
            });
        default:
            return false;
    }
}

// Calls fn(x) for each variable that the value may be, be a part of, or have among its parts.
template <class F>
void for_each_root(const Expr& value, const VarSet& tuples, const F& fn) {
    switch (value.op) {
        case Op::kVar:
        case Op::kArray:
        case Op::kLoad:
            fn(value.var);
            break;
        case Op::kItem:
        case Op::kField:
        case Op::kNamed:
        case Op::kTranspose:
        case Op::kReshape:
        case Op::kReal:
        case Op::kImag:
            for_each_root(*value.operands[0], tuples, fn);
            break;
        case Op::kAdd:
        case Op::kMul:
            if (!may_be_tuple(value, tuples)) break;
            [[fallthrough]];
        case Op::kTuple:
        case Op::kRecord:
        case Op::kSelect:
        case Op::kAnd:
        case Op::kOr:
            for (const Expr* operand : value.operands) {
                for_each_root(*operand, tuples, fn);
            }
            break;
        default:
            break;
    }
}

VarSet possible_tuples(const std::vector<const Assign*>& names) {
    VarSet tuples;
    for (bool more = true; more;) {
        more = false;
        for (const Assign* assign : names) {
            if (may_be_tuple(*assign->value, tuples)) more = tuples.insert(assign->var) || more;
        }
    }
    return tuples;
}

}  // namespace

VarSet possibly_stored(const Function& function) {
    VarSet stored = uses_of(function.body).stored;
    std::vector<const Assign*> names;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr) return;
        if (assign->update) stored.insert(assign->var);  // in place, if it is an array
        names.push_back(assign);
    });
    const VarSet tuples = possible_tuples(names);
    for_each_expr(function.body, [&](const Expr& e) {
        if (e.op != Op::kCall && e.op != Op::kApply && e.op != Op::kFunction) return;
        for (const Expr* operand : e.operands) {
            for_each_root(*operand, tuples, [&](Var* var) { stored.insert(var); });
        }
    });
    for (bool more = true; more;) {
        more = false;
        for (const Assign* assign : names) {
            const bool parts = !assign->update || tuples.contains(assign->var);  // t += (x,)
            if (!parts || !stored.contains(assign->var)) continue;
            for_each_root(*assign->value, tuples,
                          [&](Var* var) { more = stored.insert(var) || more; });
        }
    }
    return stored;
}

}  // namespace parpy
