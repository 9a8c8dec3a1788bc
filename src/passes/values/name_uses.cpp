// See name_uses.h.
#include "passes/values/name_uses.h"

#include <optional>
#include <utility>

#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

void NameUses::replace(Body& stmts) {
    Body out;
    out.reserve(stmts.size());
    for (Stmt* stmt : stmts) {
        b_.span = stmt->span;
        if (auto* loop = stmt->as<While>(); loop != nullptr && names_any(*loop->condition)) {
            test_inside(*loop);
        }
        Shapes shapes(context_, intervals_, stmt->span, out);
        for_each_slot(*stmt, [&](Expr*& slot) { replace(slot, shapes); });
        if (auto* store = stmt->as<Store>()) {
            store->indices =
                subscripts_.composed(*store->array, store->indices, shapes, stmt->span);
            store->array = subscripts_.found(*store->array).root;
            store->array->written = true;
        }
        for_each_body(*stmt, [&](Body& inner) { replace(inner); });
        out.push_back(stmt);
    }
    stmts = std::move(out);
}

bool NameUses::is_size(const Expr& e) const {
    return e.op == Op::kExtent && !e.var->dims.empty() &&
           (places_.has(e.var) || names_.contains(e.var));
}

Expr* NameUses::size_of(const Expr& e) {
    const auto rank = static_cast<int>(e.var->dims.size());
    const auto axis = static_cast<std::size_t>(e.index < 0 ? e.index + rank : e.index);
    return is_stride(e) ? subscripts_.stride(*e.var, axis, e)
                        : b_.extent(e.var->dims[axis], e.type.scalar);
}

void NameUses::replace_sizes(Expr*& value) {
    b_.span = value->span;
    rewrite(value, [&](Expr* e) { return is_size(*e) ? size_of(*e) : folded(e); });
}

Expr* NameUses::folded(Expr* e) {
    if (e->op != Op::kAdd && e->op != Op::kMul) return e;
    const auto a = constant_integer(e->operands[0]), b = constant_integer(e->operands[1]);
    std::int64_t result = 0;
    const bool known = a && b && e->type.is(Scalar::kI64) &&
                       !(e->op == Op::kAdd ? __builtin_add_overflow(*a, *b, &result)
                                           : __builtin_mul_overflow(*a, *b, &result));
    return known ? b_.integer(result, Scalar::kI64) : e;
}

bool NameUses::names_any(const Expr& expr) const {
    return any_expr(expr, [&](const Expr& e) { return names_.contains(e.var); });
}

void NameUses::test_inside(While& loop) {
    loop.body.insert(loop.body.begin(), b_.if_(b_.not_(loop.condition), {b_.break_()}));
    loop.condition = b_.boolean(true);
}

void NameUses::replace(Expr*& slot, Shapes& shapes) {
    for (Expr*& operand : slot->operands)
        replace(operand, shapes);
    Expr& e = *slot;
    if (e.op == Op::kCall) {
        call(e);
        return;
    }
    if (e.var == nullptr || !e.var->type.is_array()) return;
    if (is_size(e)) {
        slot = size_of(e);
        return;
    }
    if (!names_.contains(e.var) || e.op == Op::kArray) return;
    if (Expr* value = subscripts_.whole(e); value != nullptr) {
        slot = value;
        return;
    }
    const std::size_t rank = e.op == Op::kAtomic ? e.rank() : e.operands.size();
    const auto values = e.operands.begin() + static_cast<std::ptrdiff_t>(rank);
    std::vector<Expr*> indices =
        subscripts_.composed(*e.var, {e.operands.begin(), values}, shapes, e.span);
    indices.insert(indices.end(), values, e.operands.end());
    e.operands = std::move(indices);
    e.var = subscripts_.found(*e.var).root;
}

void NameUses::call(Expr& e) {
    if (e.callee->kind == FunctionKind::kForeign) {
        for (Expr*& operand : e.operands) {
            if (operand->op == Op::kArray) operand = subscripts_.pointed(*operand, *e.callee);
        }
        return;
    }
    std::vector<std::optional<NameVariants::Argument>> arguments(e.operands.size());
    bool any = false;
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        if (i >= e.callee->params.size() || !is_open(*e.callee->params[i])) continue;
        Var& array = *e.operands[i]->var;
        arguments[i] = {subscripts_.found(array), &array};
        any = true;
    }
    if (any) variants_.redirect(e, arguments);
}

}  // namespace parpy
