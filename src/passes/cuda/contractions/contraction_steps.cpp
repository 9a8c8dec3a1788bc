// The steps of a segment, in parts, and the addition of their products to the sums. See
// contraction_kernel.h.
#include <algorithm>

#include "passes/cuda/contractions/contraction_kernel.h"

namespace parpy {

using namespace ir;

std::vector<ContractionKernel::Segment> ContractionKernel::segments(Expr* first_row, Expr* last_row,
                                                                    Body& out) {
    std::vector<Segment> result;
    for (const ContractionSteps& steps : c_.steps) {
        Segment s;
        s.steps = &steps;
        s.products = static_cast<std::int64_t>(steps.rights.size());
        const auto& loops = steps.ranges.front().loops;
        if (loops.size() == 1) {
            const Expr* end = bounds(*steps.ranges.back().loops.front()).end;
            s.begin = named(out, "first_step",
                            least_of(bounds(*loops[0]).begin, steps.begin, first_row, last_row));
            s.end = named(out, "end_step", greatest_of(end, steps.end, first_row, last_row));
        } else {
            s.begin = number(0);
            s.end = number(1);
            for (const For* loop : loops) {
                Expr* trips = sub(bounds(*loop).end, bounds(*loop).begin);
                s.end = mul(s.end, greatest(trips, number(0)));
            }
            s.end = named(out, "end_step", s.end);
        }
        if (const std::size_t n = result.size(); n < copies_.size()) {
            s.rights = copies_[n].first;
            s.first = copies_[n].second;
        }
        result.push_back(s);
    }
    return result;
}

// The values of the loop variables at a step of a segment.
Substitution ContractionKernel::at_step(const Segment& s, const ContractionSteps::Range& range,
                                        Expr* step) {
    Substitution here = outer_;
    if (s.one_loop()) {
        here.values[range.loops.front()->var] = step;
        return here;
    }
    Expr* rest = step;
    for (std::size_t l = range.loops.size(); l-- > 0;) {
        const Contraction::Bounds& own = bounds(*range.loops[l]);
        Expr* trips = sub(own.end, own.begin);
        here.values[range.loops[l]->var] = add(own.begin, l == 0 ? rest : remainder(rest, trips));
        rest = l == 0 ? rest : quotient(rest, trips);
    }
    return here;
}

// ---------------------------------------------------------------- a segment

void ContractionKernel::add_segment(const Segment& s, bool first, Body& out) {
    const std::int64_t steps = tile_.products / s.products, ahead = tile_.stages - 1;
    const Spread of_left = spread(s, true, out), of_right = spread(s, false, out);
    // Loops count parts, and stages are derived from them: a counted stage would have unknown
    // bounds for the printer, which then hides subscripts from the compiler.
    Var* number_of = b_.scalar("part", Scalar::kI64);
    Var* to = b_.scalar("to", Scalar::kI32);
    Var* from = b_.scalar("from", Scalar::kI32);
    if (!first) out.push_back(b_.barrier(BarrierScope::kBlock));
    const auto stage = [&](std::int64_t later) {
        Expr* at = remainder(add(b_.var(number_of), later), number(tile_.stages));
        return b_.convert(at, Scalar::kI32);
    };
    const auto begun = [&] { return b_.binary(Op::kLe, number(0), b_.var(number_of)); };
    auto* copied = b_.barrier(BarrierScope::kCopies);
    copied->pending = tile_.stages - 2;
    Body body = {b_.if_(begun(), {copied, b_.barrier(BarrierScope::kBlock)})};
    Body fills = {b_.assign(to, stage(ahead))};
    Expr* next = named(fills, "ahead", add(s.begin, mul(add(b_.var(number_of), ahead), steps)));
    fill(s, true, of_left, next, to, fills);
    fill(s, false, of_right, next, to, fills);
    Expr* parts = named(out, "parts", parts_of(greatest(sub(s.end, s.begin), number(0)), steps));
    body.push_back(
        b_.if_(b_.binary(Op::kLt, add(b_.var(number_of), ahead), copy(parts)), std::move(fills)));
    body.push_back(b_.barrier(BarrierScope::kGroup));
    Body sums = {b_.assign(from, stage(0))};
    const Body products = multiply(s, from, number_of);
    if (s.steps->varies()) {
        Expr* step = named(sums, "step", add(s.begin, mul(b_.var(number_of), steps)));
        Expr* all = all_rows_add(s, step);
        sums.push_back(b_.if_(all, products, multiply_some(s, from, step)));
    } else {
        sums.insert(sums.end(), products.begin(), products.end());
    }
    body.push_back(b_.if_(begun(), std::move(sums)));
    out.push_back(b_.loop(number_of, number(-ahead), parts, std::move(body)));
}

// ---------------------------------------------------------------- products

Expr* ContractionKernel::factor_at(const Segment& s, Var* stage, bool left, const Expr* number,
                                   const Expr* in_tile) {
    Expr* value = b_.load(factors_, {product_place(s, stage, left, number, in_tile)});
    return left && scale_ != nullptr ? b_.binary(Op::kMul, copy(scale_), value) : value;
}

// The sum with the product of two factors.
Expr* ContractionKernel::added(Expr* sum, Expr* left, Expr* right) {
    if (c_.algebra.adds()) return b_.make(Op::kFma, {left, right, sum});
    return b_.binary(c_.algebra.sum, sum, b_.binary(c_.algebra.product, left, right));
}

// Adds all products of a part.
Body ContractionKernel::multiply(const Segment& s, Var* at, Var* number_of) {
    const auto factor = [&](bool left, Expr* product, Expr* place) {
        return factor_at(s, at, left, product, place);
    };
    const auto counter = [&](const char* name) { return b_.scalar(name, Scalar::kI32); };
    const std::int64_t rows = rows_of_thread(), columns = columns_of_thread();
    Var* k = counter("k");
    Var* r = counter("r");
    Var* c = counter("c");
    if (!tile_.matrices) {
        Var* a = b_.local_array("a", type_, {rows}, Space::kLocal);
        Var* b = b_.local_array("b", type_, {columns}, Space::kLocal);
        Var* x = counter("r");
        Var* y = counter("c");
        Body body = {b_.alloc(a), b_.alloc(b)};
        body.push_back(unrolled(
            r, rows, {b_.store(a, {b_.var(r)}, factor(true, b_.var(k), row_in_tile(b_.var(r))))}));
        body.push_back(unrolled(
            c, columns,
            {b_.store(b, {b_.var(c)}, factor(false, b_.var(k), column_in_tile(b_.var(c))))}));
        Expr* sum = added(b_.load(sums_, {b_.var(x), b_.var(y)}), b_.load(a, {b_.var(x)}),
                          b_.load(b, {b_.var(y)}));
        Stmt* inner = unrolled(y, columns, {b_.store(sums_, {b_.var(x), b_.var(y)}, sum)});
        body.push_back(unrolled(x, rows, {inner}));
        return {unrolled(k, tile_.products, std::move(body))};
    }
    // Each thread has two rows and one column of 8 steps of matrices, and two steps of each.
    Var* a = b_.local_array("a", type_, {rows / 2, 4}, Space::kLocal);
    Var* b = b_.local_array("b", type_, {columns / 2, 2}, Space::kLocal);
    Var* h = counter("h");
    Var* g = counter("h");
    Body body = {b_.alloc(a), b_.alloc(b)};
    Expr* lane = part(Op::kRemainder, thread_, 32);
    const auto product = [&](Var* half) {
        return plus(plus(times(b_.var(k), 8), times(b_.var(half), 4)),
                    part(Op::kRemainder, lane, 4));
    };
    // Row r of a thread's pair is row g + 8 r of the matrix.
    Expr* place = plus(times(b_.var(h), 2), part(Op::kRemainder, b_.var(r), 2));
    body.push_back(
        unrolled(h, 2,
                 {unrolled(r, rows,
                           {b_.store(a, {part(Op::kQuotient, b_.var(r), 2), place},
                                     factor(true, product(h), row_in_tile(b_.var(r))))})}));
    // Column g of a matrix; the columns of two matrices alternate in the tile, as 2 g and 2 g + 1.
    const bool pairs = !right_.by_rows;
    Expr* base = plus(times(part(Op::kRemainder, part(Op::kQuotient, thread_, 32),
                                 tile_.columns / tile_.own_columns),
                            tile_.own_columns),
                      times(part(Op::kQuotient, lane, 4), pairs ? 2 : 1));
    Expr* column = pairs ? plus(base, plus(times(part(Op::kQuotient, b_.var(c), 2), 16),
                                           part(Op::kRemainder, b_.var(c), 2)))
                         : plus(base, times(b_.var(c), 8));
    body.push_back(unrolled(
        g, 2,
        {unrolled(c, columns / 2,
                  {b_.store(b, {b_.var(c), b_.var(g)}, factor(false, product(g), column))})}));
    Var* m = counter("m");
    Var* n = counter("n");
    const auto left = [&](std::int64_t i) { return b_.load(a, {b_.var(m), small(i)}); };
    const auto right = [&](std::int64_t i) { return b_.load(b, {b_.var(n), small(i)}); };
    Expr* mma = b_.make(Op::kMma, {b_.load(sums_, {b_.var(m), b_.var(n), small(0)}), left(0),
                                   left(1), left(2), left(3), right(0), right(1)});
    body.push_back(unrolled(m, rows / 2, {unrolled(n, columns / 2, {b_.evaluate(mma)})}));
    if (!pads(s) && !whole_parts(s)) {
        Expr* first = add(mul(b_.var(number_of), tile_.products), wide(times(b_.var(k), 8)));
        Expr* all = mul(sub(s.end, s.begin), s.products);
        body = {b_.if_(b_.binary(Op::kLt, first, all), std::move(body))};
    }
    return {unrolled(k, tile_.products / 8, std::move(body))};
}

// Whether all rows of the tile have all steps of a part, except steps behind the last one.
Expr* ContractionKernel::all_rows_add(const Segment& s, Expr* step) {
    const std::int64_t steps = tile_.products / s.products;
    Expr* result = nullptr;
    if (s.steps->begin != Trend::kConstant) {
        const Expr* begin = bounds(*s.steps->ranges.front().loops.front()).begin;
        result =
            b_.binary(Op::kLe, greatest_of(begin, s.steps->begin, row_, last_row_), copy(step));
    }
    if (s.steps->end != Trend::kConstant) {
        const Expr* end = bounds(*s.steps->ranges.back().loops.front()).end;
        Expr* least = least_of(end, s.steps->end, row_, last_row_);
        result = both(result, b_.binary(Op::kLe, add(step, steps), least));
    }
    return result;
}

// Adds the products of a part row by row, for the steps that the row has.
Body ContractionKernel::multiply_some(const Segment& s, Var* at, Expr* step) {
    Var* k = b_.scalar("k", Scalar::kI32);
    Var* r = b_.scalar("r", Scalar::kI32);
    Var* c = b_.scalar("c", Scalar::kI32);
    Body body;
    Expr* here = named(body, "here", add(step, wide(part(Op::kQuotient, b_.var(k), s.products))));
    Expr* row = add(row_, wide(row_in_tile(b_.var(r))));
    Body of_row;
    row = named(of_row, "row", row);
    Expr* has = b_.binary(Op::kLt, copy(row), copy(end_row_));
    const Expr* begin = bounds(*s.steps->ranges.front().loops.front()).begin;
    const Expr* end = bounds(*s.steps->ranges.back().loops.front()).end;
    has = both(has, b_.binary(Op::kLe, at_row(begin, row), copy(here)));
    has = both(has, b_.binary(Op::kLt, copy(here), at_row(end, row)));
    const auto place = [&] { return sum_place(b_.var(r), b_.var(c)); };
    const auto factor = [&](bool left, Expr* place) {
        return factor_at(s, at, left, b_.var(k), place);
    };
    Expr* sum = added(b_.load(sums_, place()), factor(true, row_in_tile(b_.var(r))),
                      factor(false, column_in_tile(b_.var(c))));
    Stmt* all = unrolled(c, columns_of_thread(), {b_.store(sums_, place(), sum)});
    of_row.push_back(b_.if_(has, {all}));
    body.push_back(unrolled(r, rows_of_thread(), std::move(of_row)));
    return {b_.loop(k, small(0), small(tile_.products), std::move(body))};
}

}  // namespace parpy
