// Parts of tuples, and operators on tuples and arrays (lower_aggregates.h).
#include <algorithm>

#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/aggregates/lower_aggregates.h"
#include "passes/aggregates/lowering.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

// ------------------------------------------------------------ parts of values

Parts Lowering::part_of(const Parts& tuple, std::size_t place) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < place; ++i)
        first += tuple.kind.parts[i].leaf_count();
    const auto begin = tuple.leaves.begin() + static_cast<std::ptrdiff_t>(first);
    const Kind& kind = tuple.kind.parts[place];
    return {kind, {begin, begin + static_cast<std::ptrdiff_t>(kind.leaf_count())}};
}

// Lowers `item(t, k)`, and `item(t, k, n)` of a value that is unpacked into n.
Parts Lowering::item(Expr& e) {
    const Span span = e.span;
    const Expr& index = *e.operands[1];
    const auto wanted = e.operands.size() > 2 ? constant_integer(e.operands[2]) : std::nullopt;
    Expr& owner = *e.operands[0];
    Parts whole = lower(&owner);
    if (whole.kind.is_optional() && whole.kind.parts[0].is_tuple())
        whole = there(std::move(whole), owner);
    if (whole.kind.is_tuple()) {
        const std::size_t count = whole.kind.parts.size();
        if (wanted && static_cast<std::size_t>(*wanted) != count) {
            fail(Code::kP017, owner.span,
                 std::to_string(count) + (count == 1 ? " value" : " values") +
                     " cannot be assigned to " + std::to_string(*wanted) +
                     (*wanted == 1 ? " target" : " targets"),
                 "give both sides the same length");
            return poison(span);
        }
        return one_of(std::move(whole), e.operands[1], span, shown(owner));
    }
    if (!whole.kind.is_number()) {
        (void)number_in(std::move(whole), owner);
        return poison(span);
    }
    if (whole.kind.rank == 0) {
        fail(Code::kP017, owner.span, "a number cannot be unpacked into several targets",
             "a tuple, the shape of an array, a row of an array and the result of divmod can be "
             "unpacked");
        return poison(span);
    }
    Expr* array = whole.leaves.front();
    if (array->op != Op::kVar) array = held(array, span, out_->size());
    const int rank = whole.kind.rank < 0 ? whole.kind.rank : whole.kind.rank - 1;
    if (wanted && walk_.place(index, static_cast<std::size_t>(*wanted), here_) == std::size_t{0}) {
        b_.span = owner.span;
        FailBuilder failing(b_, Code::kP433);
        failing.site().message = failing.value(extent(array->var, span)) +
                                 " elements cannot be assigned to " + std::to_string(*wanted) +
                                 " targets";
        Stmt* failure = failing.make();
        Expr* differs = surface(Op::kNe, {extent(array->var, span), number(*wanted, span)}, span);
        out_->push_back(b_.if_(differs, {failure}));
    }
    Expr* load = surface(Op::kLoad, {e.operands[1]}, span);
    load->var = array->var;
    return {Kind::number(rank), {load}};
}

// The part of a tuple that a subscript selects.
Parts Lowering::one_of(Parts tuple, Expr* index, Span span, const std::string& name) {
    const std::size_t count = tuple.kind.parts.size();
    const bool used_up = std::ranges::any_of(tuple.leaves, [](const Expr* leaf) {
        return leaf->op != Op::kConst && leaf->op != Op::kVar;
    });
    if (used_up) tuple = held(std::move(tuple), span);
    if (index->op == Op::kSlice) {
        const auto places = walk_.sliced_places(*index, count, here_);
        if (!places) {
            fail(Code::kP025, index->span, "the bounds of a slice of a tuple must be constants",
                 "write out the bounds, or use an array");
            return poison(span);
        }
        Parts result{Kind::tuple({}), {}};
        for (const std::size_t place : *places) {
            Parts part = part_of(tuple, place);
            for (Expr*& leaf : part.leaves)
                leaf = clone(module_, leaf);
            result.kind.parts.push_back(part.kind);
            result.leaves.insert(result.leaves.end(), part.leaves.begin(), part.leaves.end());
        }
        return result;
    }
    if (const auto place = walk_.place(*index, count, here_)) return part_of(tuple, *place);
    const bool constant =
        index->op == Op::kConst || (index->op == Op::kNeg && index->operands[0]->op == Op::kConst);
    if (constant) {
        const auto number = constant_integer(index);
        fail(Code::kP025, index->span,
             "the tuple " + (name.empty() ? "" : name + " ") + "has no element" +
                 (number ? " " + std::to_string(*number) : ""),
             count == 0 ? "it is empty"
                        : "constants from " + std::to_string(-static_cast<std::int64_t>(count)) +
                              " to " + std::to_string(count - 1) + " are possible");
        return poison(span);
    }
    const Kind kind = any_part(tuple.kind);
    const bool alike = kind.leaf_count() * count == tuple.leaves.size();
    if (kind.form == Kind::Form::kMixed || !alike) {
        fail(Code::kP025, index->span,
             "the subscript of a tuple whose elements have different kinds must be known when the "
             "program is compiled",
             "write a constant, or use an array");
        return poison(span);
    }
    return chosen_at_run_time(tuple, kind, index, span);
}

// Whether the subscript is the variable of a loop around that counts from 0 to `count` at most.
bool Lowering::counts_to(const Expr& index, std::int64_t count) const {
    return std::ranges::any_of(loops_, [&](const Around& around) {
        const For* loop = around.loop;
        if (loop == nullptr || index.op != Op::kVar || index.var != loop->var) return false;
        const auto begin = constant_integer(loop->begin), end = constant_integer(loop->end);
        const bool counts = begin && end && *begin >= 0 && *end <= count;
        return counts && constant_integer(loop->step).value_or(0) > 0 &&
               !any_stmt(loop->body, [&](const Stmt& stmt) {
                   const auto* assign = stmt.as<Assign>();
                   const auto* inner = stmt.as<For>();
                   return (assign != nullptr && assign->var == loop->var) ||
                          (inner != nullptr && inner->var == loop->var);
               });
    });
}

// An element of a tuple of values of one kind, by a subscript that is known at run time only.
Parts Lowering::chosen_at_run_time(const Parts& tuple, const Kind& kind, Expr* index, Span span) {
    const auto count = static_cast<std::int64_t>(tuple.kind.parts.size());
    const bool inside = counts_to(*index, count);
    Expr* whole = surface(Op::kPyInt, {surface(Op::kPyIndex, {lowered(index)}, span)}, span);
    Var* const at = held(whole, span, out_->size())->var;
    const auto read_at = [&] { return var(at, span); };
    if (!inside) {
        b_.span = span;
        // Kernels written by hand check subscripts only if checks are on.
        FailBuilder failing(b_, by_hand_ ? Code::kP421 : Code::kP435);
        failing.site().message = "subscript " + failing.value(read_at()) +
                                 " is out of bounds for a tuple of " + std::to_string(count) +
                                 (count == 1 ? " element" : " elements");
        Stmt* failure = failing.make();
        Expr* outside = surface(Op::kOr,
                                {surface(Op::kLt, {read_at(), number(-count, span)}, span),
                                 surface(Op::kGe, {read_at(), number(count, span)}, span)},
                                span);
        out_->push_back(b_.if_(outside, {failure}));
    }
    if (count == 0) return poison(span);
    const bool asks_python = function_.kind == FunctionKind::kEntry && !by_hand_ && loops_.empty();
    Parts result{kind, {}};
    for (std::size_t leaf = 0; leaf < kind.leaf_count(); ++leaf) {
        const auto of_part = [&](std::int64_t i) {
            const auto part = static_cast<std::size_t>(i);
            return clone(module_, tuple.leaves[part * kind.leaf_count() + leaf]);
        };
        Expr* value = of_part(count - 1);
        for (std::int64_t i = count - 2; i >= 0; --i) {
            Expr* first = surface(Op::kEq, {read_at(), number(i, span)}, span);
            Expr* last = surface(Op::kEq, {read_at(), number(i - count, span)}, span);
            Expr* is_it = surface(Op::kOr, {first, last}, span);
            value = surface(Op::kSelect, {is_it, of_part(i), value}, span);
            value->index = asks_python && i == 0 ? kChoosesItem : kChoosesItemOfOneType;
        }
        result.leaves.push_back(value);
    }
    return result;
}

// `rank`: the number of dimensions that are subscripted.
std::vector<Expr*> Lowering::subscripts(const std::vector<Expr*>& indices, int rank) {
    std::vector<Expr*> result;
    std::vector<Expr*> given = indices;
    const auto is_rest = [](const Expr* index) { return index->op == Op::kEllipsis; };
    const auto rest = std::ranges::find_if(given, is_rest);
    const auto at = rest - given.begin();
    if (rest != given.end()) {
        const Span span = (*rest)->span;
        given.erase(rest);
        int taken = 0;
        for (const Expr* index : given) {
            const Kind kind = walk_.of(*index, here_);
            taken += index->op == Op::kNewAxis || kind.is_none() ? 0
                     : kind.is_tuple() ? static_cast<int>(kind.parts.size())
                                       : 1;
        }
        if (rank < 0)
            fail(Code::kP026, span, "the number of dimensions that '...' covers is not known here",
                 "write ':' for each of them");
        if (std::ranges::any_of(given, is_rest))
            fail(Code::kP025, span, "'...' occurs twice among the subscripts",
                 "write ':' for each dimension");
        for (int i = 0; i < rank - taken; ++i)
            given.insert(given.begin() + at, surface(Op::kSlice, {}, span));
        std::erase_if(given, is_rest);
    }
    std::vector<Parts> all = lower_all(given);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].kind.is_tuple()) {
            for (std::size_t k = 0; k < all[i].kind.parts.size(); ++k)
                result.push_back(number_in(part_of(all[i], k), *given[i]));
        } else if (all[i].kind.is_none()) {  // a dimension of size 1
            result.push_back(surface(Op::kNewAxis, {}, given[i]->span));
        } else {
            result.push_back(number_in(std::move(all[i]), *given[i]));
        }
    }
    return result;
}

// The parts of `x[i]`, or of `t[0][i]`, which has all its subscripts in one list.
Parts Lowering::subscript(Expr& e) {
    const Kind whole = kind_of(*e.var, here_);
    const Kind kind = walk_.of(e, here_);
    if (whole.is_number()) {
        e.operands = subscripts(e.operands, whole.rank);
        return {kind, {&e}};
    }
    Parts owner = read(*var(e.var, e.span));
    std::vector<Expr*> left = e.operands;
    std::string name = e.var->shown();
    if (owner.kind.is_optional() && owner.kind.parts[0].is_tuple())
        owner = there(std::move(owner), *var(e.var, e.span));
    while (owner.kind.is_tuple() && !left.empty()) {
        owner = one_of(std::move(owner), left.front(), e.span, "'" + name + "'");
        const auto number = constant_integer(left.front());
        name += "[" + (number ? std::to_string(*number) : "…") + "]";
        left.erase(left.begin());
    }
    if (left.empty()) return owner;
    if (!owner.kind.is_number()) {
        (void)number_in(std::move(owner), *var(e.var, e.span));
        return poison(e.span);
    }
    Expr* array = owner.leaves.front();
    if (array->op != Op::kVar) array = held(array, e.span, out_->size());
    Expr* load = surface(Op::kLoad, subscripts(left, owner.kind.rank), e.span);
    load->var = array->var;
    return {kind, {load}};
}

Parts Lowering::shape(Expr& e) {
    const Kind kind = walk_.of(e, here_);
    Parts owner = lower(e.operands[0]);
    if (!owner.kind.is_number()) {
        fail(Code::kP026, e.span, a_kind(owner.kind) + " has no shape", "take its length: len(t)");
        return poison(e.span);
    }
    if (!kind.is_tuple()) {
        fail_mixed(e);
        return poison(e.span);
    }
    Expr* array = owner.leaves.front();
    if (array->op != Op::kVar) array = held(array, e.span, out_->size());
    Parts result{kind, {}};
    for (std::size_t i = 0; i < kind.parts.size(); ++i) {
        result.leaves.push_back(extent(array->var, e.span, static_cast<int>(i)));
        result.leaves.back()->constant = e.constant;
    }
    return result;
}

Parts Lowering::length(Expr& e) {
    Parts owner = lower(e.operands[0]);
    if (owner.kind.is_tuple())
        return {Kind::number(),
                {number(static_cast<std::int64_t>(owner.kind.parts.size()), e.span)}};
    Expr* array = number_in(std::move(owner), *e.operands[0]);
    if (array->op != Op::kVar) array = held(array, e.span, out_->size());
    return {Kind::number(), {extent(array->var, e.span)}};
}

// An operator that makes an array of the extents behind operand 0; they may be in a tuple.
Parts Lowering::shaped(Expr& e) {
    const Span span = e.span;
    std::vector<Parts> all = lower_all(e.operands);
    std::vector<Expr*> operands;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || !all[i].kind.is_tuple()) {
            operands.push_back(number_in(std::move(all[i]), *e.operands[i]));
            continue;
        }
        for (std::size_t k = 0; k < all[i].kind.parts.size(); ++k)
            operands.push_back(number_in(part_of(all[i], k), *e.operands[i]));
    }
    Expr* made = surface(e.op, std::move(operands), span);
    made->index = e.index;
    return {Kind::number(static_cast<int>(made->operands.size()) - 1), {made}};
}

// Lowers an atomic operation on an element of an array in a tuple.
Parts Lowering::atomic(Expr& e) {
    const Kind whole = kind_of(*e.var, here_);
    if (whole.is_tuple()) {
        const auto place = walk_.place(*e.operands[0], whole.parts.size(), here_);
        if (!place || !whole.parts[*place].is_number() || e.rank() < 2) {
            (void)number_in(read(*var(e.var, e.span)), *var(e.var, e.span));
            return poison(e.span);
        }
        e.var = part_of(read(e.var, whole, e.span), *place).leaves.front()->var;
        e.operands.erase(e.operands.begin());
    } else if (!whole.is_number()) {
        (void)number_in(read(*var(e.var, e.span)), *var(e.var, e.span));
        return poison(e.span);
    }
    const auto rank = static_cast<std::ptrdiff_t>(e.rank());
    const std::vector<Expr*> indices(e.operands.begin(), e.operands.begin() + rank);
    const std::vector<Expr*> values(e.operands.begin() + rank, e.operands.end());
    e.operands = subscripts(indices, whole.is_number() ? whole.rank : Kind::kUnknownRank);
    for (Expr* value : numbers(values))
        e.operands.push_back(value);
    return {Kind::number(), {&e}};
}

// Lowers `a in t`.
Parts Lowering::membership(Expr& e) {
    const Span span = e.span;
    std::vector<Parts> sides = lower_all(e.operands);
    Expr* element = number_in(std::move(sides[0]), *e.operands[0]);
    if (element->op != Op::kConst) {
        Var* name = make_variable("tmp", span, name_of(*e.operands[0]));
        out_->push_back(assigned(name, element, span));
        element = var(name, span);
    }
    Parts& given = sides[1];
    if (!given.kind.is_tuple()) {
        Expr* array = number_in(std::move(given), *e.operands[1]);
        if (array->op != Op::kVar) array = held(array, span, out_->size());
        Expr* all = surface(Op::kLoad, {surface(Op::kSlice, {}, span)}, span);
        all->var = array->var;
        Expr* equal = surface(Op::kEq, {all, element}, span);
        Expr* found = surface(Op::kReduce, {equal}, span);
        found->index = static_cast<int>(SliceReduction::kAny);
        return {Kind::number(), {surface(Op::kPyBool, {found}, span)}};
    }
    Expr* found = nullptr;
    for (std::size_t i = 0; i < given.kind.parts.size(); ++i) {
        if (!given.kind.parts[i].is_number() && !given.kind.parts[i].is_optional()) continue;
        Expr* part = number_in(part_of(given, i), *e.operands[1]);
        Expr* equal = surface(Op::kEq, {clone(module_, element), part}, span);
        equal = surface(Op::kPyBool, {equal}, span);
        found = found == nullptr ? equal : surface(Op::kOr, {found, equal}, span);
    }
    return {Kind::number(), {found == nullptr ? truth(false, span) : found}};
}

}  // namespace parpy
