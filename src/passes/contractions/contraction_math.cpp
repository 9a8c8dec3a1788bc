// See contraction_math.h.
#include "passes/contractions/contraction_math.h"

#include "analysis/uses.h"

namespace parpy {

using namespace ir;

ContractionMath::ContractionMath(Module& module, const Contraction& contraction)
    : b_(module, contraction.top->span), math_(b_, Scalar::kI64), c_(contraction) {}

// ---------------------------------------------------------------- numbers

Expr* ContractionMath::add(const Expr* a, const Expr* b) {
    return math_.add(copy(a), copy(b));
}
Expr* ContractionMath::sub(const Expr* a, const Expr* b) {
    if (const auto difference = (linear(*a) - linear(*b)).value()) return number(*difference);
    return math_.subtract(copy(a), copy(b));
}
Expr* ContractionMath::mul(const Expr* a, const Expr* b) {
    if (constant_integer(a) == 0 || constant_integer(b) == 0) return number(0);
    return math_.multiply(copy(a), copy(b));
}
Expr* ContractionMath::least(const Expr* a, const Expr* b) {
    return same(*a, *b) ? copy(a) : math_.least(copy(a), copy(b));
}
Expr* ContractionMath::greatest(const Expr* a, const Expr* b) {
    return same(*a, *b) ? copy(a) : math_.greatest(copy(a), copy(b));
}
Expr* ContractionMath::quotient(const Expr* a, const Expr* b) {
    const auto x = constant_integer(a), y = constant_integer(b);
    if (x && y) return number(*x / *y);
    if (y == 1) return copy(a);
    return b_.binary(Op::kQuotient, copy(a), copy(b));
}
Expr* ContractionMath::remainder(const Expr* a, const Expr* b) {
    const auto x = constant_integer(a), y = constant_integer(b);
    if (x && y) return number(*x % *y);
    if (y == 1) return number(0);
    return b_.binary(Op::kRemainder, copy(a), copy(b));
}
Expr* ContractionMath::parts_of(const Expr* a, std::int64_t each) {
    return quotient(add(a, each - 1), number(each));
}

// ---------------------------------------------------------------- bounds

Expr* ContractionMath::at_row(const Expr* bound, const Expr* row) {
    Substitution substitution;
    substitution.values[c_.rows->var] = row;
    return math_.sum(linear(*folded(b_, clone(b_.module(), bound, substitution))));
}
Expr* ContractionMath::least_of(const Expr* bound, Trend trend, const Expr* first_row,
                                const Expr* last_row) {
    return at_row(bound, trend == Trend::kFalls ? last_row : first_row);
}
Expr* ContractionMath::greatest_of(const Expr* bound, Trend trend, const Expr* first_row,
                                   const Expr* last_row) {
    return at_row(bound, trend == Trend::kGrows ? last_row : first_row);
}

Var* ContractionMath::like(const Var* var) {
    return b_.module().make_like(*var);
}

// Declares variables for the bounds of all rows, and of the columns of all of them.
void ContractionMath::measure(Body& out) {
    first_row_ = named(out, "first_row", copy(bounds(*c_.rows).begin));
    end_row_ = named(out, "end_row", copy(bounds(*c_.rows).end));
    Expr* last = add(end_row_, -1);
    const Contraction::Bounds& columns = bounds(*c_.columns);
    first_column_ =
        named(out, "first_column", least_of(columns.begin, c_.first_column, first_row_, last));
    end_column_ =
        named(out, "end_column", greatest_of(columns.end, c_.last_column, first_row_, last));
}

Body ContractionMath::if_it_runs(Body body, bool columns) {
    Expr* runs = nullptr;
    const auto require = [&](const Expr* begin, const Expr* end) {
        const auto a = constant_integer(begin), z = constant_integer(end);
        if (a && z && *a < *z) return;
        Expr* some = b_.binary(Op::kLt, copy(begin), copy(end));
        runs = runs == nullptr ? some : b_.binary(Op::kAnd, runs, some);
    };
    for (const For* each : c_.outer)
        require(bounds(*each).begin, bounds(*each).end);
    require(first_row_, end_row_);
    if (columns) require(first_column_, end_column_);
    if (runs == nullptr) return body;
    return {b_.if_(runs, std::move(body))};
}

Expr* ContractionMath::adds_something(Expr* row) {
    Expr* any = nullptr;
    for (const ContractionSteps& steps : c_.steps) {
        for (const ContractionSteps::Range& range : steps.ranges) {
            Expr* all = nullptr;
            for (const For* each : range.loops) {
                Expr* some = b_.binary(Op::kLt, at_row(bounds(*each).begin, row),
                                       at_row(bounds(*each).end, row));
                all = all == nullptr ? some : b_.binary(Op::kAnd, all, some);
            }
            any = any == nullptr ? all : b_.binary(Op::kOr, any, all);
        }
    }
    return any;
}

// ---------------------------------------------------------------- sums

// The value that the last statement before the steps assigns to the sum; null if it assigns none.
const Expr* ContractionMath::given() const {
    const auto* assign = c_.before.empty() ? nullptr : c_.before.back()->as<Assign>();
    const bool assigned = c_.indices.empty() && assign != nullptr && assign->var == c_.target;
    if (assigned && !assign->update) return assign->value;
    return stores_first() && !c_.before.back()->as<Store>()->update
               ? c_.before.back()->as<Store>()->value
               : nullptr;
}

// Whether the last statement before the steps stores to the sum, which is an element.
bool ContractionMath::stores_first() const {
    const auto* store = c_.before.empty() ? nullptr : c_.before.back()->as<Store>();
    return !c_.indices.empty() && store != nullptr && store->array == c_.target && !store->atomic &&
           same(store->indices, c_.indices);
}

const Expr* ContractionMath::first_of_all() const {
    const Expr* value = given();
    return value != nullptr && value->op == Op::kConst && c_.before.size() == 1 ? value : nullptr;
}

Expr* ContractionMath::first_sum(const Substitution& here, Body& out) {
    const Expr* value = given();
    const bool replaced = value != nullptr || stores_first();
    for (std::size_t i = 0; i + (replaced ? 1 : 0) < c_.before.size(); ++i)
        out.push_back(clone(b_.module(), c_.before[i], here));
    if (value != nullptr) return clone(b_.module(), value, here);
    if (c_.indices.empty()) return b_.var(c_.target);
    Expr* element = b_.load(c_.target, element_of(here));
    if (!replaced) return element;
    const auto* store = c_.before.back()->as<Store>();
    return b_.updated(element, *store->update, clone(b_.module(), store->value, here));
}

Body ContractionMath::last_sum(const Substitution& here, Expr* value) {
    Body body = clone(b_.module(), c_.again, here);
    if (c_.indices.empty()) {
        body.push_back(b_.assign(c_.target, value));
    } else {
        body.push_back(b_.store(c_.target, element_of(here), value));
    }
    const Body behind = clone(b_.module(), c_.behind, here);
    body.insert(body.end(), behind.begin(), behind.end());
    return body;
}

std::vector<Expr*> ContractionMath::element_of(const Substitution& here) {
    std::vector<Expr*> indices;
    for (const Expr* index : c_.indices)
        indices.push_back(clone(b_.module(), index, here));
    return indices;
}

}  // namespace parpy
