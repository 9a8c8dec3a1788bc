// The layout of factors in shared memory, and their copies. See contraction_kernel.h.
#include <algorithm>
#include <cmath>

#include "analysis/contractions/nest_of_sums.h"
#include "ir/visit.h"
#include "passes/cuda/contractions/contraction_kernel.h"
#include "passes/mapped/partial_values.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kPad = 4;           // elements between steps, or products
constexpr std::int64_t kVectorBytes = 16;  // that a thread copies at a time

// The largest power of two that divides `number` and is at most `limit`, itself a power of two.
std::int64_t power_in(std::int64_t number, std::int64_t limit) {
    return std::min(number & -number, limit);
}

// Whether it is a plain load of an element of memory that threads share.
bool is_element(const Expr& e, Scalar type) {
    return e.op == Op::kLoad && e.var->type.scalar == type && e.var->space != Space::kLocal;
}

// Whether elements of the factor are contiguous along the loop, starting anywhere.
bool lies(const Expr& factor, const For& loop) {
    if (factor.op != Op::kLoad || factor.var->space == Space::kLocal) return false;
    std::int64_t apart = 0;
    for (std::size_t i = 0; i < factor.operands.size(); ++i) {
        const auto& stride = factor.var->dims[i].stride;
        for (const auto& [term, by] : linear(*factor.operands[i]).terms) {
            if (!varies(*term, loop)) continue;
            if (term->op != Op::kVar || term->var != loop.var || !stride) return false;
            apart += by * *stride;
        }
    }
    return apart == 1;
}

// Whether elements of the factor are contiguous along the loop.
bool walks(const Expr& factor, const For& loop) {
    return any_expr(factor, [&](const Expr& e) {
        if (e.op != Op::kLoad) return false;
        bool any = false;
        for (std::size_t i = 0; i < e.operands.size(); ++i) {
            if (!varies(*e.operands[i], loop)) continue;
            const auto& stride = e.var->dims[i].stride;
            if (!stride || std::abs(*stride) != 1) return false;
            any = true;
        }
        return any;
    });
}

}  // namespace

// The layouts follow the direction in which the sums' first factors are contiguous.
void ContractionKernel::lay_out() {
    const ContractionSteps& steps = c_.steps.front();
    const auto& loops = steps.ranges.front().loops;
    for (const bool left : {true, false}) {
        Layout& layout = left ? left_ : right_;
        const Expr& factor = left ? *steps.ranges.front().lefts.front() : *steps.rights.front();
        const For& across = left ? *c_.rows : *c_.columns;
        const bool copied = !left && c_.copies_rights;
        const bool along_rows = copied || walks(factor, across);
        const bool along_steps = !along_rows && walks(factor, *loops.back());
        const std::int64_t rows = left ? tile_.rows : tile_.columns;
        layout.by_rows = tile_.matrices && along_steps;
        const bool vectors = copied || (along_rows ? lies(factor, across)
                                                   : layout.by_rows && lies(factor, *loops.back()));
        if (vectors) layout.vector = kVectorBytes / size_in_bytes(type_);
        layout.pitch = layout.by_rows ? tile_.products : rows + kPad;
        layout.size = layout.by_rows ? rows * layout.pitch : tile_.products * layout.pitch;
    }
}

// Neighbouring threads copy elements that are contiguous in memory. If these are along the steps
// but shared memory is laid out step by step, threads copy a few of them and then go to the next
// row, which avoids bank conflicts.
ContractionKernel::Spread ContractionKernel::spread(const Segment& s, bool left, Body& out) {
    Body code;
    Spread vectors = spread(s, left, true, code);
    if (!align(s, left, vectors, code)) return spread(s, left, false, out);
    out.insert(out.end(), code.begin(), code.end());
    return vectors;
}

ContractionKernel::Spread ContractionKernel::spread(const Segment& s, bool left, bool vectors,
                                                    Body& out) {
    const ContractionSteps::Range& range = s.steps->ranges.front();
    const Expr& factor = left ? *range.lefts.front() : *s.steps->rights.front();
    const std::int64_t rows = left ? tile_.rows : tile_.columns;
    const std::int64_t steps = tile_.products / s.products, threads = tile_.threads;
    const bool copied = !left && s.rights != nullptr;
    const bool along_steps = !copied && walks(factor, *range.loops.back()) &&
                             !walks(factor, left ? *c_.rows : *c_.columns);
    Spread result;
    if (vectors && layout(left).by_rows == along_steps) result.vector = layout(left).vector;
    result.along_steps = along_steps;
    const std::int64_t vector = result.vector;
    const std::int64_t chunk =
        layout(left).by_rows ? steps : std::min<std::int64_t>(steps, 32 / size_in_bytes(type_));
    const std::int64_t side =
        along_steps ? chunk / std::min(vector, chunk) : power_in(rows / vector, threads);
    Expr* within = part(Op::kRemainder, thread_, side);
    Expr* beyond = b_.named(out, "beyond", part(Op::kQuotient, thread_, side));
    const std::int64_t others = threads / side;
    if (!along_steps) {
        result.row = b_.named(out, "copied_row", times(within, vector));
        result.step = beyond;
        result.rows = rows / vector / side;
        result.row_distance = side * vector;
        result.idle = others > steps;
        result.steps = std::max<std::int64_t>(steps / others, 1);
        result.step_distance = others;
        return result;
    }
    if (chunk < vector) result.vector = 1;
    const std::int64_t rows_at_once = power_in(rows, others);
    const std::int64_t steps_at_once = chunk * (others / rows_at_once);
    result.row = b_.named(out, "copied_row", part(Op::kRemainder, beyond, rows_at_once));
    result.step = b_.named(
        out, "copied_step",
        plus(times(within, chunk / side), times(part(Op::kQuotient, beyond, rows_at_once), chunk)));
    result.rows = rows / rows_at_once;
    result.row_distance = rows_at_once;
    result.idle = steps_at_once > steps;
    result.steps = std::max<std::int64_t>(steps / steps_at_once, 1);
    result.step_distance = steps_at_once;
    return result;
}

// Determines whether vectors are aligned to their size in memory; false: they are not.
bool ContractionKernel::align(const Segment& s, bool left, Spread& spread, Body& out) {
    const std::int64_t vector = spread.vector;
    if (vector == 1) return true;
    const auto require = [&](const Expr* size) {
        if (const auto known = constant_integer(size)) return *known % vector == 0;
        Expr* even = b_.binary(Op::kEq, remainder(size, number(vector)), number(0));
        spread.aligned = both(spread.aligned, even);
        return true;
    };
    Spot spot;
    spot.step = add(s.begin, wide(spread.step));
    spot.row = add(left ? row_ : column_, wide(spread.row));
    bool fits = true;
    const ContractionSteps::Range& range = s.steps->ranges.front();
    if (!left && s.rights != nullptr) {
        Expr* columns = sub(end_column_, first_column_);
        fits = require(columns);
        Expr* from =
            add(mul(mul(wide(spread.step), s.products), columns), sub(spot.row, first_column_));
        spread.aligned = both(spread.aligned, b_.make(Op::kAligned, {b_.load(s.rights, {from})}));
    } else {
        const For& along = left ? *c_.rows : *c_.columns;
        for (std::size_t p = 0; p < s.steps->rights.size() && fits; ++p) {
            const Expr& factor = left ? *range.lefts[p] : *s.steps->rights[p];
            if (!lies(factor, spread.along_steps ? *range.loops.back() : along)) continue;
            for (std::size_t i = 0; i < factor.operands.size() && fits; ++i) {
                const Dim& dim = factor.var->dims[i];
                if (dim.stride != 1) {
                    Expr* stride = dim.stride ? number(*dim.stride) : b_.var(dim.stride_var);
                    fits = require(stride);
                    continue;
                }
                bool steps = false;
                for (const For* loop : range.loops)
                    steps = steps || varies(*factor.operands[i], *loop);
                fits = !(steps && varies(*factor.operands[i], along));
            }
            Substitution here = at_step(s, range, spot.step);
            here.values[along.var] = spot.row;
            spread.aligned =
                both(spread.aligned, b_.make(Op::kAligned, {clone(b_.module(), &factor, here)}));
        }
    }
    if (!fits || spread.aligned == nullptr) return fits;
    Var* aligned = b_.scalar(left ? "left_aligned" : "right_aligned", Scalar::kBool);
    out.push_back(b_.assign(aligned, spread.aligned));
    spread.aligned = b_.var(aligned);
    return true;
}

bool ContractionKernel::whole_parts(const Segment& s) const {
    const auto begin = constant_integer(s.begin), end = constant_integer(s.end);
    return begin && end && (*end - *begin) % (tile_.products / s.products) == 0;
}

// Copies the factors of the steps from `ahead` on, of which there is at least one.
void ContractionKernel::fill(const Segment& s, bool left, const Spread& spread, Expr* ahead,
                             Var* to, Body& out) {
    const std::int64_t steps = tile_.products / s.products;
    const auto each = [&](bool vectors) {
        return spread_out(spread, ahead, left, vectors || spread.vector == 1,
                          [&](const Spot& spot, Body& body) {
                              const Body code = vectors ? fill_vectors(s, left, spot, to, spread)
                                                        : fill_each(s, left, spot, to, spread);
                              body.insert(body.end(), code.begin(), code.end());
                          });
    };
    Body body = each(spread.vector > 1);
    if (spread.aligned != nullptr)
        body = {b_.if_(copy(spread.aligned), std::move(body), each(false))};
    if (spread.idle)
        body = {b_.if_(b_.binary(Op::kLt, copy(spread.step), small(steps)), std::move(body))};
    out.insert(out.end(), body.begin(), body.end());
}

// Copies the factors of all steps from `ahead` on if the condition holds, which implies that the
// steps exist and vectors are aligned: each copy has a condition of its own, without a branch.
void ContractionKernel::fill_at_once(const Segment& s, bool left, const Spread& spread, Expr* ahead,
                                     Var* condition, Var* to, Body& out) {
    const std::int64_t steps = tile_.products / s.products, vector = spread.vector;
    const auto each = [&](const Spot& spot, Body& body) {
        const auto copies = [&](const Spot& at, std::int64_t size) {
            Body made;
            for (std::int64_t p = 0; p < s.products; ++p) {
                const Body taken = take(s, left, p, at, to, size);
                made.insert(made.end(), taken.begin(), taken.end());
            }
            return made;
        };
        const auto row = [&](std::int64_t e) {
            Spot at = spot;
            if (e > 0) at.row = add(spot.row, e);
            if (e > 0) at.in_tile = plus(spot.in_tile, small(static_cast<std::int32_t>(e)));
            return at;
        };
        Expr* go = b_.var(condition);
        if (spread.idle) go = both(go, b_.binary(Op::kLt, copy(spread.step), small(steps)));
        Expr* first = exists(s, left, spot);
        if (vector == 1 || spread.along_steps || has_whole_vectors(left, vector)) {
            body.push_back(b_.if_(both(go, first), copies(spot, vector)));
            return;
        }
        Expr* all = both(first, exists(s, left, row(vector - 1)));
        body.push_back(b_.if_(both(copy(go), all), copies(spot, vector)));
        if (all == nullptr) return;
        Expr* some = both(go, b_.make(Op::kNot, {copy(all)}));
        for (std::int64_t e = 0; e < vector; ++e)
            body.push_back(b_.if_(both(copy(some), exists(s, left, row(e))), copies(row(e), 1)));
    };
    const Body body = spread_out(spread, ahead, left, true, each);
    out.insert(out.end(), body.begin(), body.end());
}

// Copies the factors of the steps from `ahead` on one by one, or neutral ones behind the last step.
void ContractionKernel::fill_one_by_one(const Segment& s, bool left, const Spread& spread,
                                        Expr* ahead, Var* to, Body& out) {
    Body body = spread_out(spread, ahead, left, false, [&](const Spot& spot, Body& inner) {
        const Body code = fill_each(s, left, spot, to, spread);
        inner.insert(inner.end(), code.begin(), code.end());
    });
    if (spread.idle) {
        const std::int64_t steps = tile_.products / s.products;
        body = {b_.if_(b_.binary(Op::kLt, copy(spread.step), small(steps)), std::move(body))};
    }
    out.insert(out.end(), body.begin(), body.end());
}

// Whether a vector's elements, of neighbouring rows, all exist or do not.
bool ContractionKernel::has_whole_vectors(bool left, std::int64_t vector) {
    if (left && c_.is_triangle()) return false;
    const auto all =
        constant_integer(left ? sub(end_row_, first_row_) : sub(end_column_, first_column_));
    return all && *all % vector == 0;
}

// The statements that a thread runs at each of its spots.
Body ContractionKernel::spread_out(const Spread& spread, Expr* ahead, bool left, bool unrolls,
                                   const std::function<void(const Spot&, Body&)>& fn) {
    Var* r = b_.scalar("r", Scalar::kI32);
    Var* k = b_.scalar("k", Scalar::kI32);
    Body body;
    Spot spot;
    // Without names: subscripts are sums, whose constants the compiler adds to addresses.
    spot.in_part = plus(spread.step, times(b_.var(k), spread.step_distance));
    spot.in_tile = plus(spread.row, times(b_.var(r), spread.row_distance));
    spot.step = add(ahead, wide(spot.in_part));
    spot.row = add(left ? row_ : column_, wide(spot.in_tile));
    fn(spot, body);
    const auto loop = [&](Var* var, std::int64_t trips, Body inner) {
        return unrolls ? unrolled(var, trips, std::move(inner))
                       : b_.loop(var, small(0), small(trips), std::move(inner));
    };
    Body rows = {loop(r, spread.rows, std::move(body))};
    return {loop(k, spread.steps, std::move(rows))};
}

// Copies a vector at once if all its elements exist; else one by one.
Body ContractionKernel::fill_vectors(const Segment& s, bool left, const Spot& spot, Var* to,
                                     const Spread& spread) {
    Body vectors;
    for (std::int64_t p = 0; p < s.products; ++p) {
        const Body taken = take(s, left, p, spot, to, spread.vector);
        vectors.insert(vectors.end(), taken.begin(), taken.end());
    }
    const auto size = [&](const Expr* begin, const Expr* end) {
        const auto a = constant_integer(begin), z = constant_integer(end);
        return a && z && (*z - *a) % spread.vector == 0;
    };
    const bool ragged =
        left && (s.steps->varies() || c_.is_triangle() || s.steps->ranges.size() > 1);
    const bool exact = !ragged && (spread.along_steps ? size(s.begin, s.end)
                                   : left             ? size(first_row_, end_row_)
                                                      : size(first_column_, end_column_));
    if (exact) {  // all elements of the vector exist, or none
        if (Expr* some = exists(s, left, spot)) vectors = {b_.if_(some, std::move(vectors))};
        if (whole_parts(s)) return vectors;
        return {b_.if_(b_.binary(Op::kLt, copy(spot.step), copy(s.end)), std::move(vectors),
                       fill_behind(s, left, spot, to, spread))};
    }
    Spot last = spot;
    (spread.along_steps ? last.step : last.row) =
        add(spread.along_steps ? spot.step : spot.row, spread.vector - 1);
    Expr* all = exists(s, left, last);
    if (ragged) all = both(all, exists(s, left, spot));
    if (!whole_parts(s)) all = both(all, b_.binary(Op::kLt, copy(last.step), copy(s.end)));
    if (left && s.steps->ranges.size() > 1) {  // in the first range alone
        const Expr* second = bounds(*s.steps->ranges.front().loops.front()).end;
        all = both(all, b_.binary(Op::kLt, copy(last.step), at_row(second, last.row)));
        if (!spread.along_steps)
            all = both(all, b_.binary(Op::kLt, copy(last.step), at_row(second, spot.row)));
    }
    if (all == nullptr) return vectors;
    return {b_.if_(all, std::move(vectors), fill_each(s, left, spot, to, spread))};
}

// Fills a vector whose steps lie behind the last one.
Body ContractionKernel::fill_behind(const Segment& s, bool left, const Spot& spot, Var* to,
                                    const Spread& spread) {
    Body out;
    for (std::int64_t p = 0; p < s.products; ++p) {
        for (std::int64_t e = 0; e < spread.vector; ++e) {
            Expr* step = spread.along_steps ? plus(spot.in_part, small(e)) : spot.in_part;
            Expr* row = spread.along_steps ? spot.in_tile : plus(spot.in_tile, small(e));
            out.push_back(
                b_.store(factors_, {factor_place(s, to, left, step, p, row)}, neutral(left)));
        }
    }
    return out;
}

// Copies the elements of a vector one by one.
Body ContractionKernel::fill_each(const Segment& s, bool left, const Spot& spot, Var* to,
                                  const Spread& spread) {
    if (spread.vector == 1) return fill_one(s, left, spot, to);
    Var* e = b_.scalar("e", Scalar::kI32);
    Body one;
    Spot single = spot;
    (spread.along_steps ? single.in_part : single.in_tile) =
        b_.named(one, "each", plus(spread.along_steps ? spot.in_part : spot.in_tile, b_.var(e)));
    (spread.along_steps ? single.step : single.row) =
        named(one, "at", add(spread.along_steps ? spot.step : spot.row, wide(b_.var(e))));
    const Body filled = fill_one(s, left, single, to);
    one.insert(one.end(), filled.begin(), filled.end());
    return {b_.loop(e, small(0), small(spread.vector), std::move(one))};
}

// Whether the nest reads the factors of this step, which some row has; null: certainly.
Expr* ContractionKernel::exists(const Segment& s, bool left, const Spot& spot) {
    const Expr* first = left ? first_row_ : first_column_;
    const Expr* end = left ? end_row_ : end_column_;
    const auto all = constant_integer(sub(end, first));
    Expr* result = nullptr;
    if (!all || *all % (left ? tile_.rows : tile_.columns) != 0)
        result = b_.binary(Op::kLt, copy(spot.row), copy(end));
    if (left && c_.is_triangle()) {  // a row without columns reads nothing
        const Contraction::Bounds& columns = bounds(*c_.columns);
        result = both(result, b_.binary(Op::kLt, at_row(columns.begin, spot.row),
                                        at_row(columns.end, spot.row)));
    }
    if (left && s.steps->begin != Trend::kConstant) {
        const Expr* begin = bounds(*s.steps->ranges.front().loops.front()).begin;
        result = both(result, b_.binary(Op::kLe, at_row(begin, spot.row), copy(spot.step)));
    }
    if (left && s.steps->end != Trend::kConstant) {
        const Expr* last = bounds(*s.steps->ranges.back().loops.front()).end;
        result = both(result, b_.binary(Op::kLt, copy(spot.step), at_row(last, spot.row)));
    }
    return result;
}

// A factor of steps behind the last one, whose products leave every sum unchanged.
Expr* ContractionKernel::neutral(bool left) {
    if (c_.algebra.adds()) return b_.real(left ? -0.0 : 0.0, type_);
    if (left) return parpy::identity(b_, c_.algebra.sum, type_);
    return is_float(type_) ? b_.real(0, type_) : b_.integer(0, type_);
}

Body ContractionKernel::fill_one(const Segment& s, bool left, const Spot& spot, Var* to) {
    Body copies, none;
    for (std::int64_t p = 0; p < s.products; ++p) {
        const Body taken = take(s, left, p, spot, to, 1);
        copies.insert(copies.end(), taken.begin(), taken.end());
        Expr* place = factor_place(s, to, left, spot.in_part, p, spot.in_tile);
        none.push_back(b_.store(factors_, {place}, neutral(left)));
    }
    if (Expr* some = exists(s, left, spot)) copies = {b_.if_(some, std::move(copies))};
    if (whole_parts(s)) return copies;
    Expr* some = b_.binary(Op::kLt, copy(spot.step), copy(s.end));
    return {b_.if_(some, std::move(copies), std::move(none))};
}

// Copies factors of a step, or of as many steps or rows as a vector has, to their place.
Body ContractionKernel::take(const Segment& s, bool left, std::int64_t product, const Spot& spot,
                             Var* to, std::int64_t vector) {
    const auto place = [&] {
        return factor_place(s, to, left, spot.in_part, product, spot.in_tile);
    };
    if (!left && s.rights != nullptr) {
        Expr* columns = sub(end_column_, first_column_);
        Expr* number_of = add(mul(sub(spot.step, s.first), s.products), product);
        Expr* from = add(mul(number_of, columns), sub(spot.row, first_column_));
        return {copied(place(), b_.load(s.rights, {from}), vector)};
    }
    const For& along = left ? *c_.rows : *c_.columns;
    const auto which = static_cast<std::size_t>(product);
    Body result;
    const auto& ranges = s.steps->ranges;
    // Several ranges become nested selects of the one that has the step; the last range is the
    // innermost one. Vectors are always in the first range.
    for (std::size_t n = left && vector == 1 ? ranges.size() : 1; n-- > 0;) {
        Substitution here = at_step(s, ranges[n], spot.step);
        here.values[along.var] = spot.row;
        const Expr* factor = left ? ranges[n].lefts[which] : s.steps->rights[which];
        const bool fits =
            vector == 1 || lies(*factor, layout(left).by_rows ? *ranges[n].loops.back() : along);
        Body body;
        if (fits) {
            body = {copied(place(), clone(b_.module(), factor, here), vector)};
        } else {
            for (std::int64_t e = 0; e < vector; ++e) {
                Spot single = spot;
                const bool steps = layout(left).by_rows;
                (steps ? single.in_part : single.in_tile) =
                    plus(steps ? spot.in_part : spot.in_tile, small(e));
                (steps ? single.step : single.row) = add(steps ? spot.step : spot.row, e);
                const Body one = take(s, left, product, single, to, 1);
                body.insert(body.end(), one.begin(), one.end());
            }
        }
        if (n + 1 < ranges.size() && left && vector == 1) {
            Expr* end = at_row(bounds(*ranges[n].loops.front()).end, spot.row);
            body = {b_.if_(b_.binary(Op::kLt, copy(spot.step), end), std::move(body),
                           std::move(result))};
        }
        result = std::move(body);
    }
    return result;
}

// Copies of plain elements are asynchronous.
Stmt* ContractionKernel::copied(Expr* place, Expr* value, std::int64_t vector) {
    Store* store = b_.store(factors_, {place}, value);
    if (is_element(*value, type_)) store->copied = vector;
    return store;
}

// Products of a part are ordered by their number in the step, and then by steps.
Expr* ContractionKernel::factor_place(const Segment& s, Var* stage, bool left, Expr* in_part,
                                      std::int64_t product, const Expr* in_tile) {
    const std::int64_t steps = tile_.products / s.products;
    return placed(stage, left, plus(in_part, small(product * steps)), in_tile);
}

Expr* ContractionKernel::product_place(const Segment& s, Var* stage, bool left, const Expr* number,
                                       const Expr* in_tile) {
    const std::int64_t steps = tile_.products / s.products;
    Expr* location = plus(times(part(Op::kRemainder, number, s.products), steps),
                          part(Op::kQuotient, number, s.products));
    return placed(stage, left, location, in_tile);
}

// Chunks of two elements are permuted depending on the row, so that threads which read one step of
// neighbouring rows have no bank conflict.
Expr* ContractionKernel::placed(Var* stage, bool left, Expr* location, const Expr* in_tile) {
    const Layout& layout = this->layout(left);
    Expr* base = plus(times(b_.var(stage), stage_size()), small(left ? 0 : left_.size));
    if (!layout.by_rows) return plus(base, plus(times(location, layout.pitch), in_tile));
    Expr* turned = b_.binary(Op::kBitXor, part(Op::kQuotient, location, 2),
                             times(part(Op::kRemainder, in_tile, 4), 2));
    Expr* in_row = plus(times(turned, 2), part(Op::kRemainder, location, 2));
    return plus(base, plus(times(in_tile, layout.pitch), in_row));
}

}  // namespace parpy
