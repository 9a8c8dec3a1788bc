// Arrays of truth values as subscripts: x[m] = v is x[:] = np.where(m, v, x[:]), and the sum of
// x[m] that of np.where(m, x[:], 0).
#include <algorithm>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

bool is_plain_slice(const Expr* index) {
    return index->op == Op::kSlice && index->operands.empty();
}

bool loads_with(const Expr& mask, const Expr& e) {
    return e.op == Op::kLoad && !e.operands.empty() && same(*e.operands[0], mask);
}

bool is_elementwise(Op op) {
    return op != Op::kCall && op != Op::kReduce && op != Op::kMatMul && op != Op::kLoad &&
           op != Op::kTranspose && op != Op::kReshape;
}

}  // namespace

// The type of the expression, so far as it is known.
Operand Typer::typed_copy(const Expr& expr) const {
    Typer typer(context_, instances_, instance_, Phase::kFind);
    Expr* copy = clone(context_.module, &expr);
    return typer.walk(copy);
}

// The mask that is the only subscript of the array, but for slices that complete it; null if there
// is none.
const Expr* Typer::mask_of(const Var& array, const std::vector<Expr*>& indices) const {
    const bool completed =
        !indices.empty() && std::all_of(indices.begin() + 1, indices.end(), is_plain_slice);
    if (!completed || !array.type.is_array() || array.type.rank == 0) return nullptr;
    const Expr& first = *indices[0];
    if (first.op == Op::kSlice || first.op == Op::kNewAxis || first.op == Op::kConst)
        return nullptr;
    const Operand index = typed_copy(first);
    const bool is_mask = index.rank == array.type.rank && index.type.is_scalar() &&
                         index.type.scalar == Scalar::kBool;
    return is_mask ? &first : nullptr;
}

// All of the array.
Expr* Typer::whole(Var* array, Span span) const {
    Expr* load = context_.module.make_expr(Op::kLoad, Type::unknown(), span);
    load->var = array;
    for (int axis = 0; axis < array->type.rank; ++axis) {
        load->operands.push_back(context_.module.make_expr(Op::kSlice, Type::unknown(), span));
    }
    return load;
}

// A copy of the value with all elements in place of those that the mask selects; null where it is
// made of others, too, which cannot be told apart then.
Expr* Typer::unmasked(const Expr& value, const Expr& mask) const {
    if (loads_with(mask, value)) {
        return mask_of(*value.var, value.operands) != nullptr ? whole(value.var, value.span)
                                                              : nullptr;
    }
    if (!any_expr(value, [&](const Expr& e) { return loads_with(mask, e); }))
        return typed_copy(value).rank == 0 ? clone(context_.module, &value) : nullptr;
    if (!is_elementwise(value.op)) return nullptr;
    Expr* copy = clone(context_.module, &value);
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
        copy->operands[i] = unmasked(*value.operands[i], mask);
        if (copy->operands[i] == nullptr) return nullptr;
    }
    return copy;
}

Expr* Typer::where(const Expr& mask, Expr* value, Expr* otherwise) const {
    Module& module = context_.module;
    Expr* choice = module.make_expr(Op::kSelect, Type::unknown(), value->span,
                                    {clone(module, &mask), value, otherwise});
    return module.make_expr(Op::kNumpy, Type::unknown(), value->span, {choice});
}

// The store without its mask; null where there is none, or after an error.
Store* Typer::without_mask(const Store& stmt) {
    const Expr* mask = mask_of(*stmt.array, stmt.indices);
    if (mask == nullptr) return nullptr;
    Module& module = context_.module;
    Expr* value = unmasked(*stmt.value, *mask);
    if (value == nullptr) {
        report(Code::kP223, stmt.value->span,
               "what is stored to the elements that a mask selects is an array of its own",
               "store a number, or what is computed from elements that the same mask selects; "
               "else write a loop");
        value = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), stmt.span);
        value->constant = {std::int64_t{0}};
    }
    auto* made = module.make<Store>(stmt.span);
    made->labels = stmt.labels;
    made->array = stmt.array;
    made->indices = whole(stmt.array, stmt.span)->operands;
    if (stmt.update) {
        const Operand operands[] = {typed_copy(*whole(stmt.array, stmt.span)), typed_copy(*value)};
        const Typing typing = type_operation(*stmt.update, operands);
        if (typing.error.empty() && typing.result.is_scalar() && rewriting())
            (void)check_update(stmt, typing.result);
        value = module.make_expr(*stmt.update, Type::unknown(), stmt.span,
                                 {whole(stmt.array, stmt.span), value});
    }
    made->value = where(*mask, value, whole(stmt.array, stmt.span));
    return made;
}

// sum and mean of the elements that a mask selects, as operations on all elements; null for others.
Expr* Typer::without_mask(const Expr& reduce) const {
    const Expr& operand = *reduce.operands[0];
    const auto which = static_cast<SliceReduction>(reduce.index);
    const bool mean = which == SliceReduction::kMean;
    if (reduce.operands.size() != 1 || (!mean && which != SliceReduction::kSum)) return nullptr;
    const Expr* mask = nullptr;
    for_each_expr(operand, [&](const Expr& e) {
        if (mask == nullptr && e.op == Op::kLoad) mask = mask_of(*e.var, e.operands);
    });
    Expr* value = mask != nullptr ? unmasked(operand, *mask) : nullptr;
    if (value == nullptr) return nullptr;
    Module& module = context_.module;
    const auto summed = [&](Expr* of) {
        Expr* sum = clone(module, &reduce);
        sum->index = static_cast<int>(SliceReduction::kSum);
        sum->operands = {of};
        return sum;
    };
    Expr* zero = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), reduce.span);
    zero->constant = {std::int64_t{0}};
    Expr* total = summed(where(*mask, value, zero));
    if (!mean) return total;
    return module.make_expr(Op::kDiv, Type::unknown(), reduce.span,
                            {total, summed(clone(module, mask))});
}

}  // namespace parpy
