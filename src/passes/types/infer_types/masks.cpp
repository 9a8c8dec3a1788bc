// Arrays of truth values as subscripts, alone or among numbers and slices: x[m] = v becomes x[:] =
// np.where(m, v, x[:]), and the sum of x[m] that of np.where(m, x[:], 0). Elsewhere x[m] is a new
// array that a function makes, and if v has an element for each that m selects, a function stores
// the elements one by one.
#include <algorithm>
#include <functional>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

bool is_slice(const Expr* index) {
    return index->op == Op::kSlice;
}

bool loads_with(const Expr& mask, const Expr& e) {
    return e.op == Op::kLoad &&
           std::ranges::any_of(e.operands, [&](const Expr* index) { return same(*index, mask); });
}

bool is_elementwise(Op op) {
    return op != Op::kCall && op != Op::kReduce && op != Op::kMatMul && op != Op::kLoad &&
           op != Op::kTranspose && op != Op::kReshape && op != Op::kVar && op != Op::kArray;
}

// Makes the helpers below: functions of an array, a mask and more, with loops over the mask.
class MaskHelper {
public:
    MaskHelper(Module& module, const char* name, int mask_rank, Span span)
        : module_(module), mask_rank_(mask_rank), span_(span), b_(module, span) {
        function_ = module.make_function(name, FunctionKind::kHelper, span);
        array = parameter("array");
        mask = parameter("mask");
    }

    Var* parameter(const char* name) {
        Var* var = variable(name);
        function_->params.push_back(var);
        return var;
    }
    Var* variable(const char* name) { return module_.make_var(name, Type::unknown(), span_); }
    void add(Stmt* stmt) { function_->body.push_back(stmt); }
    [[nodiscard]] const Function* made() const { return function_; }

    Expr* untyped(Op op, std::vector<Expr*> operands) {
        return module_.make_expr(op, Type::unknown(), span_, std::move(operands));
    }
    Expr* weak(std::int64_t value) {
        Expr* e = module_.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), span_);
        e->constant = {value};
        return e;
    }
    Expr* read(Var* var) {
        Expr* e = untyped(Op::kVar, {});
        e->var = var;
        return e;
    }
    Expr* extent(Var* var, int axis) {
        Expr* e = untyped(Op::kExtent, {});
        e->var = var;
        e->index = axis;
        return e;
    }
    Expr* element(Var* of, const std::vector<Var*>& places) {
        Expr* e = untyped(Op::kLoad, {});
        e->var = of;
        for (Var* place : places)
            e->operands.push_back(read(place));
        return e;
    }
    Stmt* set(Var* var, Expr* value, std::optional<Op> update = {}) {
        auto* assign = module_.make<Assign>(span_);
        assign->var = var;
        assign->update = update;
        assign->value = value;
        return assign;
    }
    Stmt* increment(Var* var) { return set(var, weak(1), Op::kAdd); }
    Stmt* store(Var* to, const std::vector<Var*>& places, Expr* value,
                std::optional<Op> update = {}) {
        auto* made = module_.make<Store>(span_);
        made->array = to;
        for (Var* place : places)
            made->indices.push_back(read(place));
        made->update = update;
        made->value = value;
        return made;
    }
    // The nest of loops over the mask, which runs `then` for selected elements.
    Stmt* nest(const std::function<Body(const std::vector<Var*>&)>& then) {
        std::vector<Var*> places;
        for (int axis = 0; axis < mask_rank_; ++axis)
            places.push_back(variable("i"));
        auto* branch = module_.make<If>(span_);
        branch->condition = element(mask, places);
        branch->then_body = then(places);
        Stmt* inner = branch;
        for (int axis = mask_rank_ - 1; axis >= 0; --axis) {
            auto* loop = module_.make<For>(span_);
            loop->var = places[static_cast<std::size_t>(axis)];
            loop->begin = weak(0);
            loop->end = extent(mask, axis);
            loop->step = weak(1);
            loop->body = {inner};
            inner = loop;
        }
        return inner;
    }
    // Makes the program fail if two sizes differ: `message` names them as {0} and {1}.
    void need_same(Code code, Expr* a, Expr* b,
                   const std::function<std::string(std::string, std::string)>& message) {
        FailBuilder fail(b_, code);
        const std::string first = fail.value(a), second = fail.value(b);
        fail.site().message = message(first, second);
        auto* branch = module_.make<If>(span_);
        branch->condition = untyped(Op::kNe, {clone(module_, a), clone(module_, b)});
        branch->then_body = {fail.make()};
        add(branch);
    }
    // The number of elements that the mask selects, from an array of the mask's shape.
    Var* count_selected() {
        Var* count = variable("count");
        need_shape_of_mask();
        add(set(count, weak(0)));
        add(nest([&](const auto&) { return Body{increment(count)}; }));
        return count;
    }
    // Adds a statement for each element that the mask selects, with its subscripts and its number.
    void for_each_selected(const std::function<Stmt*(const std::vector<Var*>&, Var*)>& then) {
        Var* place = variable("place");
        add(set(place, weak(0)));
        add(nest([&](const auto& places) { return Body{then(places, place), increment(place)}; }));
    }
    void need_shape_of_mask() {
        for (int axis = 0; axis < mask_rank_; ++axis) {
            need_same(Code::kP432, extent(mask, axis), extent(array, axis),
                      [&](const std::string& own, const std::string& wanted) {
                          return "a mask has " + own + " elements along axis " +
                                 std::to_string(axis) +
                                 ", but the array that it selects from has " + wanted;
                      });
        }
    }

    Var* array = nullptr;
    Var* mask = nullptr;

private:
    Module& module_;
    int mask_rank_;
    Span span_;
    Builder b_;
    Function* function_ = nullptr;
};

}  // namespace

// helper selected(array, mask):
//     if array.shape[0] != mask.shape[0]:
//         fail P432
//     count = 0
//     for i in range(mask.shape[0]):
//         if mask[i]:
//             count += 1
//     elements = empty(full(convert_like(0, array), min(count, mask.shape[0])))
//     place = 0
//     for i in range(mask.shape[0]):
//         if mask[i]:
//             elements[place] = array[i]
//             place += 1
//     return elements
const Function* Instances::selection(int rank, int mask_rank, Span span) {
    const Function*& made = selections_[{rank, mask_rank}];
    if (made != nullptr) return made;
    MaskHelper h(context_.module, "selected", mask_rank, span);
    Var* count = h.count_selected();
    Var* elements = h.variable("elements");
    Expr* zero = h.untyped(Op::kConvertLike, {h.weak(0), h.read(h.array)});
    Expr* most = h.extent(h.mask, 0);  // for which there is memory when the function is entered
    for (int axis = 1; axis < mask_rank; ++axis)
        most = h.untyped(Op::kMul, {most, h.extent(h.mask, axis)});
    Expr* full = h.untyped(Op::kFull, {zero, h.untyped(Op::kMin, {h.read(count), most})});
    for (int axis = mask_rank; axis < rank; ++axis)
        full->operands.push_back(h.extent(h.array, axis));
    h.add(h.set(elements, h.untyped(Op::kEmpty, {full})));
    h.for_each_selected([&](const auto& places, Var* place) {
        return h.store(elements, {place}, h.element(h.array, places));
    });
    auto* exit = context_.module.make<Return>(span);
    exit->value = h.read(elements);
    h.add(exit);
    return made = h.made();
}

// helper placed(array, mask, values):
//     if array.shape[0] != mask.shape[0]:
//         fail P432
//     count = 0
//     for i in range(mask.shape[0]):
//         if mask[i]:
//             count += 1
//     if values.shape[0] != count:
//         fail P433
//     place = 0
//     for i in range(mask.shape[0]):
//         if mask[i]:
//             array[i] = values[place]
//             place += 1
const Function* Instances::placement(int mask_rank, std::optional<Op> update, Span span) {
    const Function*& made = placements_[{mask_rank, update}];
    if (made != nullptr) return made;
    MaskHelper h(context_.module, "placed", mask_rank, span);
    Var* values = h.parameter("values");
    Var* count = h.count_selected();
    h.need_same(Code::kP433, h.extent(values, 0), h.read(count),
                [](const std::string& given, const std::string& selected) {
                    return given + " values are stored to the " + selected +
                           " elements that a mask selects";
                });
    h.for_each_selected([&](const auto& places, Var* place) {
        return h.store(h.array, places, h.element(values, {place}), update);
    });
    return made = h.made();
}

// The type of the expression, as far as it is known.
Operand Typer::typed_copy(const Expr& expr) const {
    Typer typer(context_, instances_, instance_, Phase::kFind);
    Expr* copy = clone(context_.module, &expr);
    return typer.walk(copy);
}

// The mask among the subscripts: a single one, beside numbers and slices; else nothing.
std::optional<Typer::Mask> Typer::mask_among(const Var& array,
                                             const std::vector<Expr*>& indices) const {
    if (!array.type.is_array() || array.type.rank == 0) return std::nullopt;
    std::optional<Mask> found;
    int dimensions = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const Expr& index = *indices[i];
        if (index.op == Op::kNewAxis) return std::nullopt;
        ++dimensions;
        if (is_slice(&index) || index.op == Op::kConst) continue;
        const Operand operand = typed_copy(index);
        if (operand.rank == 0) continue;
        if (found || !operand.type.is_scalar() || operand.type.scalar != Scalar::kBool)
            return std::nullopt;
        found = Mask{&index, i, operand.rank};
        dimensions += operand.rank - 1;
    }
    if (!found || dimensions > array.type.rank) return std::nullopt;
    const auto at = indices.begin() + static_cast<std::ptrdiff_t>(found->at);
    found->before = static_cast<int>(std::count_if(indices.begin(), at, is_slice));
    found->behind = static_cast<int>(std::count_if(at + 1, indices.end(), is_slice)) +
                    array.type.rank - dimensions;
    // If a number is on the other side of a slice, the selected elements are the first axis.
    const auto front = std::find_if_not(std::make_reverse_iterator(at), indices.rend(),
                                        [](const Expr* e) { return !is_slice(e); });
    const auto back = std::find_if(at + 1, indices.end(), is_slice);
    const auto apart = [](const Expr* e) { return !is_slice(e); };
    found->leads =
        std::any_of(front, indices.rend(), apart) || std::any_of(back, indices.end(), apart);
    return found;
}

// The elements from which the mask selects: the part that the other subscripts select.
Expr* Typer::unselected(Var* array, const std::vector<Expr*>& indices, const Mask& mask,
                        Span span) const {
    Module& module = context_.module;
    const auto slice = [&] { return module.make_expr(Op::kSlice, Type::unknown(), span); };
    Expr* part = module.make_expr(Op::kLoad, Type::unknown(), span);
    part->var = array;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (i != mask.at) part->operands.push_back(clone(module, indices[i]));
        for (int axis = 0; i == mask.at && axis < mask.rank; ++axis)
            part->operands.push_back(slice());
    }
    while (part->operands.size() < array->type.rank)
        part->operands.push_back(slice());
    return part;
}

Expr* Typer::transposed(Expr* array, const std::vector<int>& axes) const {
    Module& module = context_.module;
    Expr* made = module.make_expr(Op::kTranspose, Type::unknown(), array->span, {array});
    for (const int axis : axes) {
        Expr* number = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), array->span);
        number->constant = {std::int64_t{axis}};
        made->operands.push_back(number);
    }
    return made;
}

// Types an element, a part, or the elements that a mask selects: x[m], x[i, m], x[:, m, 0].
Operand Typer::walk_selected(Expr*& slot) {
    const Expr& load = *slot;
    const auto mask = mask_among(*load.var, load.operands);
    if (!mask) return walk_load(*slot);
    Module& module = context_.module;
    Expr* array = unselected(load.var, load.operands, *mask, load.span);
    if (std::ranges::all_of(array->operands,
                            [](const Expr* e) { return is_slice(e) && e->operands.empty(); })) {
        array->op = Op::kVar;
        array->operands.clear();
    }
    const int rank = mask->before + mask->rank + mask->behind;
    if (mask->before > 0) {  // the axes of the mask go first
        std::vector<int> axes;
        for (int axis = 0; axis < rank; ++axis)
            axes.push_back(axis < mask->rank                  ? axis + mask->before
                           : axis < mask->rank + mask->before ? axis - mask->rank
                                                              : axis);
        array = transposed(array, axes);
    }
    Expr* call = module.make_expr(Op::kCall, Type::unknown(), load.span,
                                  {array, clone(module, mask->index)});
    call->callee = const_cast<Function*>(instances_.selection(rank, mask->rank, load.span));
    Expr* made = call;
    if (mask->before > 0 && !mask->leads) {  // and back
        std::vector<int> axes;
        for (int axis = 0; axis <= mask->before + mask->behind; ++axis)
            axes.push_back(axis < mask->before ? axis + 1 : axis == mask->before ? 0 : axis);
        made = transposed(call, axes);
    }
    if (!rewriting()) return walk(made);
    if (named_ == slot) named_ = made;
    slot = made;
    return walk(slot);
}

// A copy of the value over all elements instead of those that the mask selects; null if it has
// other operands, too, which cannot be separated then.
Expr* Typer::unmasked(const Expr& value, const Mask& mask) const {
    if (loads_with(*mask.index, value)) {
        const auto own = mask_among(*value.var, value.operands);
        const bool alike = own && same(*own->index, *mask.index) && own->before == mask.before &&
                           own->behind == mask.behind && own->leads == mask.leads;
        return alike ? unselected(value.var, value.operands, *own, value.span) : nullptr;
    }
    if (!any_expr(value, [&](const Expr& e) { return loads_with(*mask.index, e); })) {
        // All selected elements get the same value: it has only axes behind theirs.
        const int most = mask.leads ? 0 : mask.behind;
        return typed_copy(value).rank <= most ? clone(context_.module, &value) : nullptr;
    }
    if (!is_elementwise(value.op)) return nullptr;
    Expr* copy = clone(context_.module, &value);
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
        copy->operands[i] = unmasked(*value.operands[i], mask);
        if (copy->operands[i] == nullptr) return nullptr;
    }
    return copy;
}

// The mask with `count` axes of size 1 behind its own.
Expr* Typer::with_axes_behind(Expr* mask, int count) {
    if (count == 0 || !rewriting()) return mask;
    Module& module = context_.module;
    if (mask->op == Op::kVar && mask->var->type.is_array()) {
        mask->op = Op::kLoad;
        for (int axis = 0; axis < mask->var->type.rank; ++axis)
            mask->operands.push_back(module.make_expr(Op::kSlice, Type::unknown(), mask->span));
    }
    if (mask->op == Op::kLoad && typed_copy(*mask).rank > 0) {
        complete_subscripts(mask->var, mask->operands, mask->span);
        for (int axis = 0; axis < count; ++axis)
            mask->operands.push_back(module.make_expr(Op::kNewAxis, Type::unknown(), mask->span));
    } else if (is_elementwise(mask->op)) {
        for (Expr*& operand : mask->operands)
            operand = with_axes_behind(operand, count);
    } else if (const Operand operand = typed_copy(*mask); operand.rank > 0) {
        (void)walk(mask);
        if (!is_view(*mask)) name_value(mask, operand.rank);
        return with_axes_behind(mask, count);
    }
    return mask;
}

Expr* Typer::where(Expr* mask, Expr* value, Expr* otherwise) const {
    Module& module = context_.module;
    Expr* choice =
        module.make_expr(Op::kSelect, Type::unknown(), value->span, {mask, value, otherwise});
    return module.make_expr(Op::kNumpy, Type::unknown(), value->span, {choice});
}

// Returns whether `out` has got a replacement of a store through a mask.
bool Typer::store_selected(Store& stmt, Body& out) {
    const auto mask = mask_among(*stmt.array, stmt.indices);
    if (!mask) return false;
    if (Expr* value = unmasked(*stmt.value, *mask)) {
        Store* plain = without_mask(stmt, *mask, value);
        if (!walk_store(*plain, out) && rewriting()) out.push_back(plain);
        return true;
    }
    if (mask->before > 0) {
        refuse_call(Code::kP223, stmt.value->span,
                    "an array is stored to the elements that a mask after slices selects",
                    "store a number, or a value computed from elements that the same mask selects, "
                    "or write a loop");
        return true;
    }
    Module& module = context_.module;
    // Copies: they are evaluated before anything is stored, and the array may be one of them.
    const auto copied = [&](Expr* e) {
        return module.make_expr(Op::kNumpy, Type::unknown(), e->span, {e});
    };
    Expr* selects = clone(module, mask->index);
    if (stmt.array->type.scalar == Scalar::kBool) selects = copied(selects);
    Expr* call = module.make_expr(
        Op::kCall, Type::unknown(), stmt.span,
        {unselected(stmt.array, stmt.indices, *mask, stmt.span), selects, copied(stmt.value)});
    call->callee = const_cast<Function*>(instances_.placement(mask->rank, stmt.update, stmt.span));
    (void)walk(call);
    if (rewriting()) out.push_back(Builder(module, stmt.span).evaluate(call));
    return true;
}

// A store of the value to all elements from which the mask selects; others keep their values.
Store* Typer::without_mask(const Store& stmt, const Mask& mask, Expr* value) {
    Module& module = context_.module;
    const auto all = [&] { return unselected(stmt.array, stmt.indices, mask, stmt.span); };
    auto* made = module.make<Store>(stmt.span);
    made->labels = stmt.labels;
    made->array = stmt.array;
    made->indices = all()->operands;
    if (stmt.update) {
        const Operand operands[] = {typed_copy(*all()), typed_copy(*value)};
        const Typing typing = type_operation(*stmt.update, operands);
        if (typing.error.empty() && typing.result.is_scalar() && rewriting())
            (void)check_update(stmt, typing.result);
        value = module.make_expr(*stmt.update, Type::unknown(), stmt.span, {all(), value});
    }
    Expr* selects = with_axes_behind(clone(module, mask.index), mask.behind);
    made->value = where(selects, value, all());
    return made;
}

// The sum or mean of selected elements as that of all elements, where those that the mask does not
// select are 0; null for other reductions.
Typer::Unselected Typer::without_mask(const Expr& reduce) const {
    const Expr& operand = *reduce.operands[0];
    const auto which = static_cast<SliceReduction>(reduce.index);
    const bool adds = which == SliceReduction::kMean || which == SliceReduction::kSum;
    if (reduce.operands.size() != 1 || !adds) return {};
    std::optional<Mask> mask;
    for_each_expr(operand, [&](const Expr& e) {
        if (!mask && e.op == Op::kLoad) mask = mask_among(*e.var, e.operands);
    });
    if (!mask || mask->before + mask->behind > 0) return {};
    Expr* value = unmasked(operand, *mask);
    if (value == nullptr) return {};
    Module& module = context_.module;
    const auto reduced = [&](Expr* of) {
        Expr* made = clone(module, &reduce);
        made->operands = {of};
        return made;
    };
    Expr* zero = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), reduce.span);
    zero->constant = {std::int64_t{0}};
    Expr* count = reduced(clone(module, mask->index));
    count->index = static_cast<int>(SliceReduction::kSum);
    return {reduced(where(clone(module, mask->index), value, zero)), count};
}

// Types the sum or mean of selected elements. The mean of the other expression is computed as
// NumPy computes means, but divides by the number of selected elements.
Operand Typer::walk_reduce_selected(Expr*& slot, Unselected all) {
    const bool mean = static_cast<SliceReduction>(all.reduce->index) == SliceReduction::kMean;
    const Operand result = walk(all.reduce);
    if (!rewriting()) return result;
    if (mean && result.type.is_scalar()) {
        (void)walk(all.count);
        const bool converted = all.reduce->op == Op::kConvert;
        Expr* sum = converted ? all.reduce->operands[0] : all.reduce;
        sum->index = static_cast<int>(SliceReduction::kSum);
        Builder b(context_.module, slot->span);
        Expr* divided = b.binary(Op::kDiv, sum, b.convert(all.count, sum->type.scalar));
        all.reduce = b.convert(divided, result.type.scalar);
    }
    slot = all.reduce;
    return result;
}

}  // namespace parpy
