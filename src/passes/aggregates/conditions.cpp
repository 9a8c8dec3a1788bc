// Lowers values that depend on conditions, and comparisons of tuples and of values that may be None
// (lower_aggregates.h).
#include <algorithm>

#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

// ------------------------------------------------------------ conditions

Expr* Lowering::same(Expr& e) {
    if (const auto known = walk_.truth(e, here_)) return truth(*known, e.span);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const bool other_is_none = walk_.of(*e.operands[1 - i], here_).is_none();
        if (!other_is_none || !walk_.of(*e.operands[i], here_).is_optional()) continue;
        return surface(Op::kNot, {lower(e.operands[i]).leaves.back()}, e.span);
    }
    Diagnostic* const made =
        fail(Code::kP011, e.span, "the operator 'is' can only compare with None",
             "compare values with '=='");
    if (made != nullptr) made->python_may_call = true;
    return truth(false, e.span);
}

// `a or b` where `a` is a tuple or None.
Parts Lowering::tuple_or(Expr& e) {
    const Kind kind = walk_.of(e, here_);
    const Span span = e.span;
    KindsHere known = here_;
    walk_.assume(*e.operands[0], false, known);
    Parts first = held(lower(e.operands[0]), span);
    Expr* test = first.leaves.back();
    first.leaves.pop_back();
    first.kind = Kind(first.kind.parts[0]);
    Body before[2];
    Body* const outer = std::exchange(out_, &before[1]);
    std::swap(here_, known);
    Parts other = as_kind(lower(e.operands[1]), kind, span);
    std::swap(here_, known);
    out_ = outer;
    first = as_kind(std::move(first), kind, span);
    if (first.leaves.size() != other.leaves.size() || first.kind.form != other.kind.form) {
        fail_mixed(e, kind);
        return poison(span);
    }
    Parts result{kind, {}};
    for (std::size_t k = 0; k < first.leaves.size(); ++k) {
        Var* chosen = make_variable("tmp", span, "tmp");
        before[0].push_back(assigned(chosen, first.leaves[k], span));
        before[1].push_back(assigned(chosen, other.leaves[k], span));
        result.leaves.push_back(var(chosen, span));
    }
    b_.span = span;
    out_->push_back(b_.if_(test, std::move(before[0]), std::move(before[1])));
    return result;
}

// Lowers `b if a else c`, `a and b`, `a or b`, where a side needs statements or is no number.
Parts Lowering::choose(Expr& e) {
    const bool ternary = e.op == Op::kSelect;
    if (const auto known = walk_.truth(*e.operands[0], here_)) {
        const bool second = ternary || *known == (e.op == Op::kAnd);
        return lower(e.operands[ternary ? (*known ? 1 : 2) : second ? 1 : 0]);
    }
    if (const Kind first = walk_.of(*e.operands[0], here_);
        e.op == Op::kOr && first.is_optional() && first.parts[0].is_tuple())
        return tuple_or(e);
    const Kind kind = walk_.of(e, here_);
    const Span span = e.span;
    KindsHere known[2] = {here_, here_};  // on the two sides
    walk_.assume(*e.operands[0], ternary || e.op == Op::kAnd, known[ternary ? 0 : 1]);
    if (ternary) walk_.assume(*e.operands[0], false, known[1]);
    Expr* test = condition(e.operands[0]);
    const std::size_t first = ternary ? 1 : 0;
    Parts sides[2];
    Body before[2];
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        if (!ternary && i == 0) continue;
        Body* const outer = std::exchange(out_, &before[i]);
        std::swap(here_, known[i]);
        Expr* written = e.operands[first + i];
        sides[i] = as_kind(lower(written), kind, span);
        if (!ternary && sides[i].kind.is_optional())
            sides[i] = {Kind::number(), {number_in(std::move(sides[i]), *written)}};
        std::swap(here_, known[i]);
        out_ = outer;
    }
    if (kind.is_number() && before[0].empty() && before[1].empty()) {
        e.operands[0] = test;
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            if (ternary || i == 1)
                e.operands[first + i] = number_in(std::move(sides[i]), *e.operands[first + i]);
        }
        return {kind, {&e}};
    }
    if (!ternary) {
        test = held(test, span, out_->size());
        sides[0] = {Kind::number(), {clone(module_, test)}};
        if (e.op == Op::kAnd) {
            std::swap(sides[0], sides[1]);
            std::swap(before[0], before[1]);
        }
    }
    const bool can_be =
        kind.is_number() || kind.is_tuple() || kind.is_record() || kind.is_optional();
    if (sides[0].kind.form != sides[1].kind.form || !can_be) {
        fail_mixed(e, kind);
        return {kind, {number(0, span)}};
    }
    Parts result{kind, {}};
    for (std::size_t k = 0; k < kind.leaf_count(); ++k) {
        Var* chosen = make_variable("tmp", span, "tmp");
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            before[i].push_back(assigned(chosen, sides[i].leaves[k], span));
        }
        result.leaves.push_back(var(chosen, span));
    }
    b_.span = span;
    out_->push_back(b_.if_(test, std::move(before[0]), std::move(before[1])));
    return result;
}

// ------------------------------------------------------------ operators of tuples

namespace {

bool is_of_numbers(const Kind& kind) {
    if (kind.is_tuple()) return std::ranges::all_of(kind.parts, is_of_numbers);
    return kind.is_number() && kind.rank <= 0;
}

// Whether the elements of one are compared with those of the other, one by one.
bool have_an_order(const Kind& a, const Kind& b) {
    if (!a.is_tuple() || !b.is_tuple() || !is_of_numbers(a) || !is_of_numbers(b)) return false;
    const bool flat = a.leaf_count() == a.parts.size() && b.leaf_count() == b.parts.size();
    return flat || without_ranks(unnamed(a)) == without_ranks(unnamed(b));
}

}  // namespace

// `a < b` of tuples: the first elements that differ decide, or else the lengths.
Expr* Lowering::ordered(Op op, const Parts& a, const Parts& b, Span span) {
    const bool less = op == Op::kLt || op == Op::kLe;
    const bool strict = op == Op::kLt || op == Op::kGt;
    const std::size_t lengths[] = {a.leaves.size(), b.leaves.size()};
    const std::size_t count = std::min(lengths[0], lengths[1]);
    const bool shorter = lengths[less ? 0 : 1] < lengths[less ? 1 : 0];
    Expr* result = truth(shorter || (!strict && lengths[0] == lengths[1]), span);
    for (std::size_t i = count; i-- > 0;) {
        const auto both = [&] {
            return std::vector<Expr*>{clone(module_, a.leaves[i]), clone(module_, b.leaves[i])};
        };
        if (i + 1 == count && lengths[0] == lengths[1]) {
            result = surface(op, both(), span);
            continue;
        }
        Expr* equal = surface(Op::kAnd, {surface(Op::kEq, both(), span), result}, span);
        Expr* decided = surface(less ? Op::kLt : Op::kGt, both(), span);
        result = surface(Op::kOr, {decided, equal}, span);
    }
    return result;
}

// min(a, b) and max(a, b) of tuples.
Parts Lowering::extreme(Expr& e) {
    const Span span = e.span;
    std::vector<Parts> sides = lower_all(e.operands);
    if (!have_an_order(sides[0].kind, sides[1].kind) ||
        sides[0].leaves.size() != sides[1].leaves.size()) {
        fail(Code::kP204, span, "the tuples of min or max differ in their elements",
             "give all of them the same number of elements, all of them numbers");
        return poison(span);
    }
    for (Parts& side : sides)
        side = held(std::move(side), span);
    Expr* test = ordered(e.op == Op::kMax ? Op::kGt : Op::kLt, sides[1], sides[0], span);
    test = held(test, span, out_->size());
    Parts result{walk_.of(e, here_), {}};
    for (std::size_t i = 0; i < sides[0].leaves.size(); ++i) {
        result.leaves.push_back(surface(
            Op::kSelect, {clone(module_, test), sides[1].leaves[i], sides[0].leaves[i]}, span));
    }
    return result;
}

Parts Lowering::compare(Expr& e) {
    const Span span = e.span;
    const Kind kinds[] = {walk_.of(*e.operands[0], here_), walk_.of(*e.operands[1], here_)};
    if (e.op != Op::kEq && e.op != Op::kNe) {
        if (!have_an_order(kinds[0], kinds[1])) {
            fail(Code::kP011, span,
                 "tuples can be ordered only if all of their elements are numbers",
                 "compare their elements");
            return poison(span);
        }
        std::vector<Parts> sides = lower_all(e.operands);
        for (Parts& side : sides)
            side = held(std::move(side), span);
        return {Kind::number(), {ordered(e.op, sides[0], sides[1], span)}};
    }
    for (const Kind& kind : kinds) {
        if (kind.is_tuple() || (kind.is_number() && kind.rank == 0) || kind.is_none()) continue;
        fail(Code::kP204, span, "a tuple is compared with " + a_kind(kind),
             "compare it with a tuple, or make an array of it");
        return poison(span);
    }
    std::vector<Parts> sides = lower_all(e.operands);
    const bool equal =
        without_ranks(unnamed(sides[0].kind)) == without_ranks(unnamed(sides[1].kind));
    Expr* result = truth(equal, span);
    for (std::size_t i = 0; equal && i < sides[0].leaves.size(); ++i) {
        Expr* each = surface(Op::kEq, {sides[0].leaves[i], sides[1].leaves[i]}, span);
        result = i == 0 ? each : surface(Op::kAnd, {result, each}, span);
    }
    if (e.op == Op::kNe) result = surface(Op::kNot, {result}, span);
    return {Kind::number(), {result}};
}

// Lowers `a == b`, of which one side is or may be None.
Parts Lowering::compare_with_none(Expr& e) {
    const Span span = e.span;
    std::vector<Parts> sides = lower_all(e.operands);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        if (!sides[1 - i].kind.is_none() || !sides[i].kind.is_optional()) continue;
        Expr* is_there = sides[i].leaves.back();
        return {Kind::number(), {e.op == Op::kNe ? is_there : surface(Op::kNot, {is_there}, span)}};
    }
    Expr* both = nullptr;  // whether neither is None
    Expr* none = nullptr;  // whether both are
    for (std::size_t i = 0; i < sides.size(); ++i) {
        Parts& side = sides[i];
        if (!side.kind.is_none() && !side.kind.is_optional())
            side = {Kind::number(), {number_in(std::move(side), *e.operands[i])}};
        side = held(as_kind(std::move(side), Kind::optional(Kind::number()), span), span);
        Expr* is_none = surface(Op::kNot, {clone(module_, side.leaves[1])}, span);
        both = both == nullptr ? side.leaves[1] : surface(Op::kAnd, {both, side.leaves[1]}, span);
        none = none == nullptr ? is_none : surface(Op::kAnd, {none, is_none}, span);
    }
    Expr* equal = surface(Op::kEq, {sides[0].leaves[0], sides[1].leaves[0]}, span);
    Expr* result = surface(Op::kOr, {none, surface(Op::kAnd, {both, equal}, span)}, span);
    if (e.op == Op::kNe) result = surface(Op::kNot, {result}, span);
    return {Kind::number(), {result}};
}

Parts Lowering::joined_tuples(Expr& e) {
    Parts result{walk_.of(e, here_), {}};
    if (e.op == Op::kAdd) {
        for (Parts& side : lower_all(e.operands))
            result.leaves.insert(result.leaves.end(), side.leaves.begin(), side.leaves.end());
        return result;
    }
    const Parts once = held(lower(e.operands[0]), e.span);
    while (result.leaves.size() < result.kind.leaf_count()) {
        for (const Expr* leaf : once.leaves)
            result.leaves.push_back(clone(module_, leaf));
    }
    return result;
}

}  // namespace parpy
