// The steps of a segment, in parts, and the addition of their products to the sums. See
// contraction_kernel.h.
#include <algorithm>

#include "passes/cuda/contractions/contraction_kernel.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kStepsOfMatrix = 4;  // that a kMma multiplies

void append(Body& to, Body&& some) {
    to.insert(to.end(), some.begin(), some.end());
}

}  // namespace

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
    const Spread of_left = spread(s, true, out), of_right = spread(s, false, out);
    if (!first) out.push_back(b_.barrier(BarrierScope::kBlock));
    const std::int64_t steps = tile_.products / s.products;
    Expr* parts = named(out, "parts", parts_of(greatest(sub(s.end, s.begin), number(0)), steps));
    const bool in_turns = tile_.matrices && !s.steps->varies() && s.steps->ranges.size() == 1;
    const auto copy_ahead = [&](Var* number_of) {
        const std::int64_t ahead = tile_.stages - 1;
        Copies copies;
        Var* to = b_.scalar("to", Scalar::kI32);
        Body& begin = in_turns ? copies.at_once : copies.others;
        begin.push_back(b_.assign(to, stage(number_of, ahead)));
        Expr* next = named(begin, "ahead", add(s.begin, mul(add(b_.var(number_of), ahead), steps)));
        Expr* some = b_.binary(Op::kLt, add(b_.var(number_of), ahead), copy(parts));
        Body fills;
        if (in_turns) {
            Expr* all = copy(some);
            for (const Spread* each : {&of_left, &of_right})
                if (each->aligned != nullptr) all = both(all, copy(each->aligned));
            if (!whole_parts(s)) all = both(all, b_.binary(Op::kLe, add(next, steps), copy(s.end)));
            Var* at_once = b_.scalar("at_once", Scalar::kBool);
            begin.push_back(b_.assign(at_once, all));
            fill_at_once(s, true, of_left, next, at_once, to, begin);
            fill_at_once(s, false, of_right, next, at_once, to, begin);
            const bool always =
                whole_parts(s) && of_left.aligned == nullptr && of_right.aligned == nullptr;
            if (!always) {
                some = both(some, b_.make(Op::kNot, {b_.var(at_once)}));
                fill_one_by_one(s, true, of_left, next, to, fills);
                fill_one_by_one(s, false, of_right, next, to, fills);
            }
        } else {
            fill(s, true, of_left, next, to, fills);
            fill(s, false, of_right, next, to, fills);
        }
        if (!fills.empty()) copies.others.push_back(b_.if_(some, std::move(fills)));
        copies.others.push_back(b_.barrier(BarrierScope::kGroup));
        return copies;
    };
    if (in_turns)
        multiply_in_turns(s, parts, copy_ahead, out);
    else
        multiply_parts(s, parts, copy_ahead, out);
}

// The number of the stage that has the part, or one `later`.
Expr* ContractionKernel::stage(Var* number_of, std::int64_t later) {
    Expr* at = remainder(add(b_.var(number_of), later), number(tile_.stages));
    return b_.convert(at, Scalar::kI32);
}

// Waits until the next part has been copied, and all threads have left the part before it.
Body ContractionKernel::wait() {
    auto* copied = b_.barrier(BarrierScope::kCopies);
    copied->pending = tile_.stages - 2;
    return {copied, b_.barrier(BarrierScope::kBlock)};
}

// Loads the factors of a part when its products are added. Loops count parts, and stages are
// derived from them: a counted stage would have unknown bounds for the printer, which then hides
// subscripts from the compiler.
void ContractionKernel::multiply_parts(const Segment& s, const Expr* parts,
                                       const CopyAhead& copy_ahead, Body& out) {
    Var* number_of = b_.scalar("part", Scalar::kI64);
    Var* from = b_.scalar("from", Scalar::kI32);
    const auto begun = [&] { return b_.binary(Op::kLe, number(0), b_.var(number_of)); };
    Body body = {b_.if_(begun(), wait())};
    append(body, copy_ahead(number_of).others);
    Body sums = {b_.assign(from, stage(number_of, 0))};
    Body products = tile_.matrices ? multiply_matrices(s, from) : multiply_numbers(s, from);
    if (s.steps->varies()) {
        const std::int64_t steps = tile_.products / s.products;
        Expr* step = named(sums, "step", add(s.begin, mul(b_.var(number_of), steps)));
        Expr* all = all_rows_add(s, step);
        sums.push_back(b_.if_(all, std::move(products), multiply_some(s, from, step)));
    } else {
        append(sums, std::move(products));
    }
    body.push_back(b_.if_(begun(), std::move(sums)));
    out.push_back(b_.loop(number_of, number(1 - tile_.stages), copy(parts), std::move(body)));
}

// Loads the factors of four steps while those before them are multiplied, from part to part: the
// matrix units wait neither for shared memory nor for barriers. Copies have conditions but no
// branches, so that the compiler puts them between the products.
void ContractionKernel::multiply_in_turns(const Segment& s, const Expr* parts,
                                          const CopyAhead& copy_ahead, Body& out) {
    Var* first = b_.scalar("part", Scalar::kI64);
    Copies copies = copy_ahead(first);
    append(copies.at_once, std::move(copies.others));
    out.push_back(b_.loop(first, number(1 - tile_.stages), number(0), std::move(copies.at_once)));
    append(out, wait());
    const Fragments f = fragments(2, out);
    Var* at = b_.scalar("from", Scalar::kI32);
    out.push_back(b_.assign(at, small(0)));
    append(out, load_fragments(s, at, f, small(0), small(0)));

    Var* number_of = b_.scalar("part", Scalar::kI64);
    Var* from = b_.scalar("from", Scalar::kI32);
    Var* next = b_.scalar("next", Scalar::kI32);
    Var* k = b_.scalar("k", Scalar::kI32);
    Body body = {b_.assign(from, stage(number_of, 0))};
    append(body, load_fragments(s, from, f, small(1), small(1)));
    copies = copy_ahead(number_of);
    append(body, std::move(copies.at_once));
    append(body, multiply_fragments(f, small(0)));
    append(body, std::move(copies.others));
    Expr* behind = plus(b_.var(k), small(1));
    Body turn = load_fragments(s, from, f, behind, part(Op::kRemainder, behind, 2));
    append(turn, multiply_fragments(f, part(Op::kRemainder, b_.var(k), 2)));
    For* loop = b_.loop(k, small(1), small(tile_.products / kStepsOfMatrix - 1), std::move(turn));
    loop->mapping.unroll = true;
    body.push_back(loop);
    append(body, wait());
    body.push_back(b_.assign(next, stage(number_of, 1)));
    append(body, load_fragments(s, next, f, small(0), small(0)));
    append(body, multiply_fragments(f, small(1)));
    out.push_back(b_.loop(number_of, number(0), copy(parts), std::move(body)));
}

// ---------------------------------------------------------------- products

Expr* ContractionKernel::factor_at(const Segment& s, Var* stage, bool left, const Expr* number,
                                   const Expr* in_tile) {
    Expr* value = b_.load(factors_, {product_place(s, stage, left, number, in_tile)});
    return left ? scaled(value) : value;
}

Expr* ContractionKernel::scaled(Expr* left) {
    return scale_ != nullptr ? b_.binary(Op::kMul, copy(scale_), left) : left;
}

// The sum with the product of two factors.
Expr* ContractionKernel::added(Expr* sum, Expr* left, Expr* right) {
    if (c_.algebra.adds()) return b_.make(Op::kFma, {left, right, sum});
    return b_.binary(c_.algebra.sum, sum, b_.binary(c_.algebra.product, left, right));
}

// Adds all products of a part, of numbers that the thread loads.
Body ContractionKernel::multiply_numbers(const Segment& s, Var* at) {
    const std::int64_t rows = rows_of_thread(), columns = columns_of_thread();
    const auto counter = [&](const char* name) { return b_.scalar(name, Scalar::kI32); };
    Var* k = counter("k");
    Var* r = counter("r");
    Var* c = counter("c");
    Var* a = b_.local_array("a", type_, {rows}, Space::kLocal);
    Var* b = b_.local_array("b", type_, {columns}, Space::kLocal);
    Var* x = counter("r");
    Var* y = counter("c");
    Expr* left = factor_at(s, at, true, b_.var(k), row_in_tile(b_.var(r)));
    Expr* right = factor_at(s, at, false, b_.var(k), column_in_tile(b_.var(c)));
    Body body = {b_.alloc(a), b_.alloc(b), unrolled(r, rows, {b_.store(a, {b_.var(r)}, left)}),
                 unrolled(c, columns, {b_.store(b, {b_.var(c)}, right)})};
    Expr* sum = added(b_.load(sums_, {b_.var(x), b_.var(y)}), b_.load(a, {b_.var(x)}),
                      b_.load(b, {b_.var(y)}));
    Stmt* inner = unrolled(y, columns, {b_.store(sums_, {b_.var(x), b_.var(y)}, sum)});
    body.push_back(unrolled(x, rows, {inner}));
    return {unrolled(k, tile_.products, std::move(body))};
}

// ---------------------------------------------------------------- matrices

// The thread's factors of four steps, `turns` times: of its rows, and of one column of a matrix.
ContractionKernel::Fragments ContractionKernel::fragments(std::int64_t turns, Body& out) {
    Fragments f;
    f.left = b_.local_array("a", type_, {turns, rows_of_thread()}, Space::kLocal);
    f.right = b_.local_array("b", type_, {turns, columns_of_thread() / 2}, Space::kLocal);
    out.push_back(b_.alloc(f.left));
    out.push_back(b_.alloc(f.right));
    return f;
}

// Loads factors of a part: four steps from step 4 k on.
Body ContractionKernel::load_fragments(const Segment& s, Var* at, const Fragments& f, Expr* k,
                                       Expr* turn) {
    Var* r = b_.scalar("r", Scalar::kI32);
    Var* c = b_.scalar("c", Scalar::kI32);
    Expr* lane = part(Op::kRemainder, thread_, 32);
    const auto product = [&] {
        return plus(times(k, kStepsOfMatrix), part(Op::kRemainder, lane, 4));
    };
    // Column g of a matrix; the columns of two matrices alternate in the tile, as 2 g and 2 g + 1.
    const bool pairs = !right_.by_rows;
    Expr* base = plus(times(part(Op::kRemainder, part(Op::kQuotient, thread_, 32),
                                 tile_.columns / tile_.own_columns),
                            tile_.own_columns),
                      times(part(Op::kQuotient, lane, 4), pairs ? 2 : 1));
    Expr* column = pairs ? plus(base, plus(times(part(Op::kQuotient, b_.var(c), 2), 16),
                                           part(Op::kRemainder, b_.var(c), 2)))
                         : plus(base, times(b_.var(c), 8));
    Expr* left = b_.load(factors_, {product_place(s, at, true, product(), row_in_tile(b_.var(r)))});
    Expr* right = b_.load(factors_, {product_place(s, at, false, product(), column)});
    return {
        unrolled(r, rows_of_thread(), {b_.store(f.left, {copy(turn), b_.var(r)}, left)}),
        unrolled(c, columns_of_thread() / 2, {b_.store(f.right, {copy(turn), b_.var(c)}, right)})};
}

// Adds the products of the factors that were loaded in this turn.
Body ContractionKernel::multiply_fragments(const Fragments& f, Expr* turn) {
    Var* m = b_.scalar("m", Scalar::kI32);
    return {unrolled(m, rows_of_thread() / 2, multiply_rows(f, turn, b_.var(m)))};
}

// The same of the warp's rows 16 m to 16 m + 15.
Body ContractionKernel::multiply_rows(const Fragments& f, const Expr* turn, const Expr* m) {
    Var* n = b_.scalar("n", Scalar::kI32);
    const auto left = [&](std::int64_t i) {
        return scaled(b_.load(f.left, {copy(turn), plus(times(m, 2), small(i))}));
    };
    Expr* mma = b_.make(Op::kMma, {b_.load(sums_, {copy(m), b_.var(n), small(0)}), left(0), left(1),
                                   b_.load(f.right, {copy(turn), b_.var(n)})});
    return {unrolled(n, columns_of_thread() / 2, {b_.evaluate(mma)})};
}

// Adds all products of a part.
Body ContractionKernel::multiply_matrices(const Segment& s, Var* at) {
    Var* k = b_.scalar("k", Scalar::kI32);
    Body body;
    const Fragments f = fragments(1, body);
    append(body, load_fragments(s, at, f, b_.var(k), small(0)));
    append(body, multiply_fragments(f, small(0)));
    return {unrolled(k, tile_.products / kStepsOfMatrix, std::move(body))};
}

// ---------------------------------------------------------------- rows with other steps

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
    if (!tile_.matrices) {
        Body body = add_rows(s, at, step, b_.var(k), small(0), rows_of_thread());
        return {b_.loop(k, small(0), small(tile_.products), std::move(body))};
    }
    // Of the matrices of 16 rows and four steps, few have rows that begin or end among the steps.
    Body body;
    const Fragments f = fragments(1, body);
    append(body, load_fragments(s, at, f, b_.var(k), small(0)));
    const auto step_of = [&](std::int64_t later) {
        Expr* number_of = plus(times(b_.var(k), kStepsOfMatrix), small(later));
        return add(step, wide(part(Op::kQuotient, number_of, s.products)));
    };
    Expr* warp = part(Op::kQuotient, thread_, 32);
    Expr* first_own =
        times(part(Op::kQuotient, warp, tile_.columns / tile_.own_columns), tile_.own_rows);
    for (std::int64_t m = 0; m < tile_.own_rows / 16; ++m) {
        Expr* first = named(body, "first", add(row_, wide(plus(first_own, small(16 * m)))));
        Expr* last = named(body, "last", least(add(first, 15), last_row_));
        Expr* all = b_.binary(Op::kLe, copy(first), copy(last));
        Expr* some = copy(all);
        const Expr* begin = bounds(*s.steps->ranges.front().loops.front()).begin;
        const Expr* end = bounds(*s.steps->ranges.back().loops.front()).end;
        const auto least_begin = least_of(begin, s.steps->begin, first, last);
        const auto greatest_begin = greatest_of(begin, s.steps->begin, first, last);
        const auto least_end = least_of(end, s.steps->end, first, last);
        const auto greatest_end = greatest_of(end, s.steps->end, first, last);
        const std::int64_t behind = kStepsOfMatrix - 1;
        all = both(all, b_.binary(Op::kLe, greatest_begin, step_of(0)));
        all = both(all, b_.binary(Op::kLt, step_of(behind), least_end));
        some = both(some, b_.binary(Op::kLe, least_begin, step_of(behind)));
        some = both(some, b_.binary(Op::kLt, step_of(0), greatest_end));
        Var* e = b_.scalar("e", Scalar::kI32);
        Expr* number_of = plus(times(b_.var(k), kStepsOfMatrix), b_.var(e));
        Body one_by_one = {b_.loop(e, small(0), small(kStepsOfMatrix),
                                   add_rows(s, at, step, number_of, small(2 * m), 2))};
        body.push_back(b_.if_(all, multiply_rows(f, small(0), small(m)),
                              {b_.if_(some, std::move(one_by_one))}));
    }
    return {b_.loop(k, small(0), small(tile_.products / kStepsOfMatrix), std::move(body))};
}

// Adds a product to the sums of `rows` of the thread's rows, from `first` on, that have its step.
Body ContractionKernel::add_rows(const Segment& s, Var* at, Expr* step, const Expr* number_of,
                                 const Expr* first, std::int64_t rows) {
    Var* r = b_.scalar("r", Scalar::kI32);
    Var* c = b_.scalar("c", Scalar::kI32);
    Body body;
    Expr* here = named(body, "here", add(step, wide(part(Op::kQuotient, number_of, s.products))));
    const auto own = [&] { return plus(first, b_.var(r)); };
    Expr* row = add(row_, wide(row_in_tile(own())));
    Body of_row;
    row = named(of_row, "row", row);
    Expr* has = b_.binary(Op::kLt, copy(row), copy(end_row_));
    const Expr* begin = bounds(*s.steps->ranges.front().loops.front()).begin;
    const Expr* end = bounds(*s.steps->ranges.back().loops.front()).end;
    has = both(has, b_.binary(Op::kLe, at_row(begin, row), copy(here)));
    has = both(has, b_.binary(Op::kLt, copy(here), at_row(end, row)));
    const auto place = [&] { return sum_place(own(), b_.var(c)); };
    const auto factor = [&](bool left, Expr* place) {
        return factor_at(s, at, left, number_of, place);
    };
    Expr* sum = added(b_.load(sums_, place()), factor(true, row_in_tile(own())),
                      factor(false, column_in_tile(b_.var(c))));
    Stmt* all = unrolled(c, columns_of_thread(), {b_.store(sums_, place(), sum)});
    of_row.push_back(b_.if_(has, {all}));
    body.push_back(unrolled(r, rows, std::move(of_row)));
    return body;
}

}  // namespace parpy
