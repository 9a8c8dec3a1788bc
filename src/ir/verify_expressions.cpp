// The rules of expressions (verify.h).
#include <algorithm>

#include "ir/ops.h"
#include "ir/text/print.h"
#include "ir/tile.h"
#include "ir/verifier.h"

namespace parpy::ir {

bool Verifier::required(const Expr* e, Span span) {
    if (e == nullptr) {
        fail(span, "an expression is missing");
    }
    return e != nullptr;
}

void Verifier::expr(const Expr& e) {
    if (!seen_exprs_.insert(&e).second) {
        fail(e.span, "expression '" + print(e) + "' has two parents");
        return;
    }
    for (const Expr* operand : e.operands) {
        if (!required(operand, e.span)) {
            return;
        }
    }
    if (arity(e.op) >= 0 && e.operands.size() != static_cast<std::size_t>(arity(e.op))) {
        fail(e.span, "operator '" + std::string(text(e.op)) + "' has " +
                         std::to_string(e.operands.size()) + " operands");
        return;
    }
    for (const Expr* operand : e.operands) {
        expr(*operand);
    }
    if (structure(e) && from(Profile::kValues)) {
        typing(e);
    }
}

bool Verifier::structure(const Expr& e) {
    if (e.op == Op::kIndex && e.index > 0 &&
        static_cast<std::size_t>(e.index) > module_.sites.size()) {
        fail(e.span, "a subscript names no site of the program");
        return false;
    }
    switch (e.op) {
        case Op::kSlice:
        case Op::kNewAxis:
        case Op::kReduce:
        case Op::kFull:
        case Op::kLike:
        case Op::kEmpty:
        case Op::kTranspose:
        case Op::kReshape:
        case Op::kMatMul:
            if (from(Profile::kLoops)) {
                fail(e.span, "'" + print(e) + "' was not lowered");
            }
            return !e.operands.empty() || e.op != Op::kReduce;
        case Op::kVar:
        case Op::kLoad:
        case Op::kExtent:
        case Op::kRank:
        case Op::kSize:
        case Op::kArray:
        case Op::kAtomic:
            variable(e.var, e.span);
            break;
        case Op::kCall:
        case Op::kFunction:
            if (e.callee == nullptr || !known_functions_.contains(e.callee)) {
                fail(e.span, "a call does not name a function of this module");
                return false;
            }
            if (from(Profile::kValues) && e.callee->params.size() != e.operands.size()) {
                fail(e.span, "call of '" + e.callee->name + "' passes " +
                                 std::to_string(e.operands.size()) + " arguments");
                return false;
            }
            return true;
        default:
            return true;
    }
    if (e.var == nullptr) {
        return false;
    }
    if (e.op == Op::kLoad) {
        element(e.var, e.operands, e.operands.size(), e.span,
                is_row(e) ? e.type.rank - (is_open_row(e) ? 1U : 0U) : 0);
    } else if (e.op == Op::kAtomic) {
        element(e.var, e.operands, e.rank(), e.span);
    } else if (e.op == Op::kVar && from(Profile::kLoops) && loop_variables_.contains(e.var) &&
               !assigned_.contains(e.var)) {
        loop_variable_read(e);
    }
    return true;
}

void Verifier::loop_variable_read(const Expr& e) {
    for (const For* enclosing : loops_) {
        if (enclosing != nullptr && enclosing->var == e.var) {
            return;
        }
    }
    fail(e.span, "loop variable '" + e.var->name + "' is read outside its loop");
}

void Verifier::element(const Var* array, const std::vector<Expr*>& indices, std::size_t count,
                       Span span, std::size_t rest) {
    if (!array->type.is_array()) {
        // Before kValues it is an error of the user, which infer_types reports.
        if (from(Profile::kValues)) {
            fail(span, "'" + array->name + "' is subscripted but is not an array");
        }
        return;
    }
    if (!from(Profile::kValues)) {
        return;
    }
    const auto new_axes = std::count_if(indices.begin(), indices.end(),
                                        [](const Expr* e) { return e->op == Op::kNewAxis; });
    if (count + rest - static_cast<std::size_t>(new_axes) != array->type.rank) {
        fail(span, "array '" + array->name + "' has " + std::to_string(count) + " subscripts");
    }
    for (std::size_t i = 0; i < count; ++i) {
        const Expr& index = *indices[i];
        if (index.op == Op::kSlice || index.op == Op::kNewAxis) {
            continue;
        }
        if (!index.type.is_scalar() || !is_integer(index.type.scalar)) {
            fail(span, "a subscript of '" + array->name + "' has type " + to_string(index.type));
        }
        const auto* value = std::get_if<std::int64_t>(&index.constant.value);
        if (from(Profile::kLoops) && index.op == Op::kConst && value != nullptr && *value < 0 &&
            index.type.scalar != Scalar::kU64) {
            fail(span, "a subscript of '" + array->name + "' is negative");
        }
    }
}

void Verifier::arguments(const Function& callee, const std::vector<Expr*>& values, Span span) {
    if (!from(Profile::kValues)) {
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Type& wanted = callee.params[i]->type;
        const Type& given = values[i]->type;
        // A foreign function receives a pointer to elements, whatever the layout is.
        const bool points = callee.kind == FunctionKind::kForeign && wanted.is_array() &&
                            given.is_array() && wanted.scalar == given.scalar;
        if (given != wanted && !points) {
            fail(span, "parameter '" + callee.params[i]->name + "' of '" + callee.name +
                           "' has type " + to_string(callee.params[i]->type) + ", its argument " +
                           to_string(values[i]->type));
        }
    }
}

void Verifier::typing(const Expr& e) {
    if (e.op == Op::kPyInt || e.op == Op::kPyIndex || e.op == Op::kPyFloat || e.op == Op::kPyBool ||
        e.op == Op::kNumpy || e.op == Op::kOutput || e.op == Op::kRound) {
        fail(e.span, "'" + print(e) + "' is a Python conversion");
        return;
    }
    if (!known(e.type)) type(e.type, e.span, "expression '" + print(e) + "'");
    const Type expected = typed_result(e);
    if (e.type != expected) {
        fail(e.span, "expression '" + print(e) + "' has type " + to_string(e.type) +
                         " where its operands give " + to_string(expected));
    }
    if (e.op == Op::kCall) {
        arguments(*e.callee, e.operands, e.span);
    } else if (e.op == Op::kTile || e.op == Op::kMma || e.op == Op::kAligned) {
        if (!is_valid_tile(e)) fail(e.span, "the operands of '" + print(e) + "' do not suit it");
    } else if (e.op == Op::kConst) {
        constant(e);
    } else if (!suits(e)) {
        fail(e.span, "the operands of '" + print(e) + "' do not suit it");
    }
}

void Verifier::constant(const Expr& e) {
    const Scalar s = e.type.scalar;
    const std::size_t kind = s == Scalar::kBool ? 0U : is_integer(s) ? 1U : is_float(s) ? 2U : 3U;
    if (!e.type.is_scalar() || e.constant.value.index() != kind) {
        fail(e.span, "the value of constant '" + print(e) + "' is not of its type");
    }
}

}  // namespace parpy::ir
