// Arrays of truth values as subscripts: x[m] = v is x[:] = np.where(m, v, x[:]), and the sum of
// x[m] that of np.where(m, x[:], 0). Elsewhere x[m] is a new array, which a function makes.
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

// helper selected(array, mask):
//     if array.shape[0] != mask.shape[0]:
//         fail P432
//     count = 0
//     for i in range(array.shape[0]):
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
    Module& module = context_.module;
    Builder b(module, span);
    Function* function = module.make_function("selected", FunctionKind::kHelper, span);
    const auto variable = [&](const char* name) {
        return module.make_var(name, Type::unknown(), span);
    };
    Var* array = variable("array");
    Var* mask = variable("mask");
    function->params = {array, mask};
    const auto weak = [&](std::int64_t value) {
        Expr* e = module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), span);
        e->constant = {value};
        return e;
    };
    const auto read = [&](Var* var) {
        Expr* e = module.make_expr(Op::kVar, Type::unknown(), span);
        e->var = var;
        return e;
    };
    const auto extent = [&](Var* var, int axis) {
        Expr* e = module.make_expr(Op::kExtent, Type::unknown(), span);
        e->var = var;
        e->index = axis;
        return e;
    };
    const auto element = [&](Var* of, const std::vector<Var*>& places) {
        Expr* e = module.make_expr(Op::kLoad, Type::unknown(), span);
        e->var = of;
        for (Var* place : places)
            e->operands.push_back(read(place));
        return e;
    };
    const auto increment = [&](Var* var) {
        auto* step = module.make<Assign>(span);
        step->var = var;
        step->update = Op::kAdd;
        step->value = weak(1);
        return step;
    };
    const auto set = [&](Var* var, Expr* value) {
        auto* assign = module.make<Assign>(span);
        assign->var = var;
        assign->value = value;
        return assign;
    };
    // Loops over the mask, and what they do where it selects.
    const auto nest = [&](const std::function<Body(const std::vector<Var*>&)>& then) {
        std::vector<Var*> places;
        for (int axis = 0; axis < mask_rank; ++axis)
            places.push_back(variable("i"));
        auto* branch = module.make<If>(span);
        branch->condition = element(mask, places);
        branch->then_body = then(places);
        Stmt* inner = branch;
        for (int axis = mask_rank - 1; axis >= 0; --axis) {
            auto* loop = module.make<For>(span);
            loop->var = places[static_cast<std::size_t>(axis)];
            loop->begin = weak(0);
            loop->end = extent(mask, axis);
            loop->step = weak(1);
            loop->body = {inner};
            inner = loop;
        }
        return inner;
    };
    Var* count = variable("count");
    Var* elements = variable("elements");
    Var* place = variable("place");
    Expr* zero = module.make_expr(Op::kConvertLike, Type::unknown(), span, {weak(0), read(array)});
    Expr* most = extent(mask, 0);  // for which there is memory when the function is entered
    for (int axis = 1; axis < mask_rank; ++axis)
        most = module.make_expr(Op::kMul, Type::unknown(), span, {most, extent(mask, axis)});
    Expr* size = module.make_expr(Op::kMin, Type::unknown(), span, {read(count), most});
    Expr* full = module.make_expr(Op::kFull, Type::unknown(), span, {zero, size});
    for (int axis = mask_rank; axis < rank; ++axis)
        full->operands.push_back(extent(array, axis));
    auto* exit = module.make<Return>(span);
    exit->value = read(elements);
    for (int axis = 0; axis < mask_rank; ++axis) {
        FailBuilder fail(b, Code::kP432);
        const std::string own = fail.value(extent(mask, axis));
        const std::string wanted = fail.value(extent(array, axis));
        fail.site().message = "a mask has " + own + " elements along axis " + std::to_string(axis) +
                              ", but the array that it selects from has " + wanted;
        auto* branch = module.make<If>(span);
        branch->condition = module.make_expr(Op::kNe, Type::unknown(), span,
                                             {extent(array, axis), extent(mask, axis)});
        branch->then_body = {fail.make()};
        function->body.push_back(branch);
    }
    const Body rest = {
        set(count, weak(0)),
        nest([&](const auto&) { return Body{increment(count)}; }),
        set(elements, module.make_expr(Op::kEmpty, Type::unknown(), span, {full})),
        set(place, weak(0)),
        nest([&](const auto& places) {
            auto* store = module.make<Store>(span);
            store->array = elements;
            store->indices = {read(place)};
            store->value = element(array, places);
            return Body{store, increment(place)};
        }),
        exit,
    };
    function->body.insert(function->body.end(), rest.begin(), rest.end());
    made = function;
    return made;
}

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

// An element, a part, or the elements that a mask selects: x[m], of all dimensions or the first
// ones, or behind numbers: x[i, m].
Operand Typer::walk_selected(Expr*& slot) {
    const Expr& load = *slot;
    if (!load.var->type.is_array()) return walk_load(*slot);
    const auto is_number = [&](const Expr* index) {
        return index->op != Op::kSlice && index->op != Op::kNewAxis &&
               (index->op == Op::kConst || typed_copy(*index).rank == 0);
    };
    const auto at = std::ranges::find_if_not(load.operands, is_number);
    if (at == load.operands.end() || (*at)->op == Op::kSlice || (*at)->op == Op::kNewAxis ||
        !std::all_of(at + 1, load.operands.end(), is_plain_slice)) {
        return walk_load(*slot);
    }
    const Operand index = typed_copy(**at);
    const int rank = load.var->type.rank - static_cast<int>(at - load.operands.begin());
    if (!index.type.is_scalar() || index.type.scalar != Scalar::kBool || index.rank > rank)
        return walk_load(*slot);
    Module& module = context_.module;
    Expr* array = module.make_expr(Op::kVar, Type::unknown(), load.span);
    array->var = load.var;
    if (at != load.operands.begin()) {
        array->op = Op::kLoad;
        for (auto number = load.operands.begin(); number != at; ++number)
            array->operands.push_back(clone(module, *number));
        for (int axis = 0; axis < rank; ++axis)
            array->operands.push_back(module.make_expr(Op::kSlice, Type::unknown(), load.span));
    }
    Expr* call =
        module.make_expr(Op::kCall, Type::unknown(), load.span, {array, clone(module, *at)});
    call->callee = const_cast<Function*>(instances_.selection(rank, index.rank, load.span));
    if (!rewriting()) return walk_call(call);
    if (named_ == slot) named_ = call;
    slot = call;
    return walk_call(slot);
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
