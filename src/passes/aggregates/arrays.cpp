// Arrays of the elements of tuples, np.array((a, b)) (lower_aggregates.h).
#include <algorithm>

#include "ir/clone.h"
#include "passes/aggregates/lowering.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

Parts Lowering::array_of(Expr& e) {
    const Span span = e.span;
    Parts value = lower(e.operands[0]);
    if (value.kind.is_number())
        return {value.kind, {surface(Op::kNumpy, {value.leaves.front()}, span)}};
    const std::optional<Nest> nest = nest_of(value.kind);
    if (!value.kind.is_tuple() || value.kind.parts.empty() || !nest || nest->rank < 0) {
        if (!value.kind.is_tuple())
            (void)number_in(std::move(value), *e.operands[0]);
        else
            fail(Code::kP204, span,
                 value.kind.parts.empty() ? "an array of no elements has no type here"
                                          : "the elements of this array have different shapes",
                 value.kind.parts.empty() ? "write np.zeros(0)"
                                          : "let all rows have the same number of elements");
        return poison(span);
    }
    value = held(std::move(value), span);
    check_same_shape(*nest, value.leaves, span);
    Var* const array = held(array_for(*nest, value.leaves, span), span, out_->size())->var;
    std::vector<std::int64_t> place(nest->extents.size(), 0);
    for (Expr* leaf : value.leaves) {
        auto* each = module_.make<Store>(span);
        each->array = array;
        for (const std::int64_t index : place)
            each->indices.push_back(number(index, span));
        each->value = clone(module_, leaf);
        out_->push_back(each);
        for (std::size_t axis = place.size(); axis-- > 0;) {
            if (++place[axis] < nest->extents[axis]) break;
            place[axis] = 0;
        }
    }
    return {Kind::number(static_cast<int>(place.size()) + nest->rank), {var(array, span)}};
}

Expr* Lowering::array_for(const Nest& nest, const std::vector<Expr*>& leaves, Span span) {
    std::vector<Expr*> extents;
    for (const std::int64_t size : nest.extents)
        extents.push_back(number(size, span));
    for (int axis = 0; axis < nest.rank; ++axis)
        extents.push_back(extent(leaves.front()->var, span, axis));
    const auto filled = [&](Expr* value) {
        std::vector<Expr*> operands{value};
        for (const Expr* size : extents)
            operands.push_back(clone(module_, size));
        return surface(Op::kFull, std::move(operands), span);
    };
    // These choices exist only for their type, which holds all of the elements.
    Expr* fitting = nullptr;
    std::vector<const Expr*> met;
    for (const Expr* leaf : leaves) {
        const auto alike = [&](const Expr* other) {
            return other->op == Op::kConst && leaf->op == Op::kConst && other->type == leaf->type;
        };
        if (std::ranges::any_of(met, alike)) continue;
        met.push_back(leaf);
        Expr* value = surface(Op::kNumpy, {clone(module_, leaf)}, span);
        if (nest.rank == 0) {
            fitting = fitting == nullptr
                          ? value
                          : surface(Op::kSelect, {truth(false, span), value, fitting}, span);
            continue;
        }
        Expr* other = fitting != nullptr ? fitting : clone(module_, value);
        fitting = surface(Op::kSelect, {filled(truth(false, span)), value, other}, span);
        fitting = surface(Op::kNumpy, {fitting}, span);  // a value, and no name for either
    }
    return nest.rank > 0 ? fitting : filled(fitting);
}

// Checks arrays among the elements, of which a smaller one would otherwise be broadcast.
void Lowering::check_same_shape(const Nest& nest, const std::vector<Expr*>& leaves, Span span) {
    b_.span = span;
    for (std::size_t i = 1; i < leaves.size(); ++i) {
        for (int axis = 0; axis < nest.rank; ++axis) {
            Expr* first = extent(leaves[0]->var, span, axis);
            Expr* size = extent(leaves[i]->var, span, axis);
            FailBuilder failing(b_, Code::kP433);
            failing.site().message = "an array is made of parts with " + failing.value(first) +
                                     " and " + failing.value(size) + " elements";
            Stmt* failure = failing.make();
            Expr* differs = surface(Op::kNe, {clone(module_, first), clone(module_, size)}, span);
            out_->push_back(b_.if_(differs, {failure}));
        }
    }
}

}  // namespace parpy
