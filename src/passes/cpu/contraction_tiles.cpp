// Writes the code of a tile of sums: their initial values, the additions, and the stores. See
// contraction_code.h.
#include <algorithm>
#include <cmath>
#include <complex>

#include "analysis/uses.h"
#include "ir/visit.h"
#include "passes/cpu/contraction_code.h"

namespace parpy {

using namespace ir;

namespace {

bool is_positive_zero(const Expr& e) {
    const auto* real = std::get_if<double>(&e.constant.value);
    const auto* complex = std::get_if<std::complex<double>>(&e.constant.value);
    const std::complex<double> value = real != nullptr      ? *real
                                       : complex != nullptr ? *complex
                                                            : std::complex<double>(1);
    return e.op == Op::kConst && value == 0.0 && !std::signbit(value.real()) &&
           !std::signbit(value.imag());
}

}  // namespace

// ---------------------------------------------------------------- elements

// Whether all rows and columns of the tile are its own elements of the contraction; null if that is
// certain.
Expr* ContractionCode::whole_tile(const Tile& tile) {
    const std::int64_t rows = plan_.tile_rows(), columns = plan_.tile.columns();
    const Contraction::Bounds& range = bounds(*c_.columns);
    Expr* last_row = add(tile.own_row, rows - 1);
    Expr* full = nullptr;
    const auto require = [&](Expr* low, Expr* high) {
        const auto a = constant_integer(low), z = constant_integer(high);
        if (a && z && *a <= *z) return;
        Expr* fits = b_.binary(Op::kLe, copy(low), copy(high));
        full = full == nullptr ? fits : b_.binary(Op::kAnd, full, fits);
    };
    const auto all_rows = constant_integer(sub(end_row_, first_row_)),
               all_columns = constant_integer(sub(panel_end_, panel_first_));
    if (!all_rows || *all_rows % rows != 0) require(add(tile.own_row, rows), tile.end_row);
    if (!all_columns || *all_columns % columns != 0)
        require(add(tile.own_column, columns), panel_end_);
    if (c_.first_column != Trend::kConstant) {
        const Trend trend = c_.first_column;
        require(greatest_of(range.begin, trend, tile.own_row, last_row), tile.own_column);
    }
    if (c_.last_column != Trend::kConstant) {
        const Trend trend = c_.last_column;
        require(add(tile.own_column, columns), least_of(range.end, trend, tile.own_row, last_row));
    }
    return full;
}

// If all rows and columns of a tile are elements of the contraction, the loops have constant trips,
// which the compiler vectorises.
void ContractionCode::elements(const Tile& tile, Body& out,
                               const std::function<Body(Var*, Var*, Expr*)>& make) {
    const std::int64_t rows = plan_.tile_rows(), columns = plan_.tile.columns();
    const Contraction::Bounds& range = bounds(*c_.columns);
    const auto loops = [&](bool full) {
        Var* row = like(c_.rows->var);
        Var* column = like(c_.columns->var);
        Expr* sum = add(add(tile.sums, mul(sub(b_.var(row), tile.row), columns * plan_.parts)),
                        sub(b_.var(column), tile.column));
        Expr* begin = tile.own_column;
        Expr* end = add(tile.own_column, columns);
        if (!full) {
            if (c_.first_column != Trend::kConstant)
                begin = greatest(begin, at_row(range.begin, b_.var(row)));
            end = least(end, c_.last_column != Trend::kConstant
                                 ? least(at_row(range.end, b_.var(row)), panel_end_)
                                 : panel_end_);
        }
        Body body = {loop(column, begin, end, make(row, column, sum), Level::kVector)};
        if (contains_loop(body.front()->as<For>()->body)) body.front()->as<For>()->mapping = {};
        if (c_.may_lack_sums && std::ranges::any_of(c_.steps, &ContractionSteps::varies))
            body = {b_.if_(adds_something(b_.var(row)), std::move(body))};
        Expr* end_row = add(tile.own_row, rows);
        return loop(row, tile.own_row, full ? end_row : least(end_row, tile.end_row),
                    std::move(body));
    };
    if (tile.partial) return out.push_back(loops(false));
    Expr* full = whole_tile(tile);
    if (full == nullptr) {
        out.push_back(loops(true));
    } else {
        Body here = {loops(true)}, there = {loops(false)};
        out.push_back(b_.if_(full, std::move(here), std::move(there)));
    }
}

// ---------------------------------------------------------------- sums

void ContractionCode::begin_sums(const Tile& tile, Body& out) {
    const Expr* all = first_of_all();
    if (all != nullptr && (plan_.parts == 1 || is_positive_zero(*all))) {
        Var* at = b_.scalar("sum", Scalar::kI64);
        const std::int64_t sums = plan_.tile.rows * plan_.tile.columns();
        Expr* first = plan_.parts == 1 ? copy(all) : b_.real(0, type_);
        Body fill = {b_.store(sums_, {add(tile.sums, b_.var(at))}, first)};
        out.push_back(loop(at, number(0), number(sums), std::move(fill), Level::kVector));
        return;
    }
    elements(tile, out, [&](Var* row, Var* column, Expr* sum) {
        Body body;
        Expr* first = first_sum(with({{c_.rows->var, row}, {c_.columns->var, column}}), body);
        store_parts(sums_, sum, plan_.tile.columns(), first, body);
        return body;
    });
}

void ContractionCode::end_sums(const Tile& tile, Body& out) {
    elements(tile, out, [&](Var* row, Var* column, Expr* sum) {
        Expr* value = b_.load(sums_, {copy(sum)});
        if (plan_.parts > 1) {
            Expr* other = b_.load(sums_, {add(sum, plan_.tile.columns())});
            value = b_.make(Op::kComplex, {value, other});
        }
        return last_sum(with({{c_.rows->var, row}, {c_.columns->var, column}}), value);
    });
}

// ---------------------------------------------------------------- products

Stmt* ContractionCode::tile_call(std::int64_t rows, const Tile& tile, const Part& part, Expr* row,
                                 Expr* step, Expr* count) {
    const std::size_t segment = part.segment->number;
    const std::int64_t columns = plan_.tile.columns();
    const bool direct = !plan_.direct.empty(), rights = !plan_.direct_rights.empty();
    const std::int64_t left_row = direct ? plan_.direct[segment].row : 1,
                       left_step = direct ? plan_.direct[segment].step : plan_.tile.rows,
                       right_step = rights ? plan_.direct_rights[segment].step : columns;
    // Sums that start from zero do so where the first products are added.
    const bool anew = tile.in_result && plan_.result->anew && segment == 0;
    return b_.evaluate(b_.make(
        Op::kTile, {number(rows * plan_.parts), number(plan_.tile.vectors),
                    number(plan_.tile.lanes), b_.boolean(plan_.fused), b_.boolean(anew),
                    sum_place(tile, row), number(tile.in_result ? plan_.result->row : columns),
                    left_place(tile, part, row, step), number(left_row), number(left_step),
                    right_place(tile, part, step), number(right_step), copy(count)}));
}

Expr* ContractionCode::sum_place(const Tile& tile, Expr* row) {
    if (!tile.in_result) {
        Expr* first = mul(sub(row, tile.row), plan_.tile.columns() * plan_.parts);
        return b_.load(sums_, {add(tile.sums, first)});
    }
    Substitution here = outer_;
    here.values[c_.rows->var] = row;
    here.values[c_.columns->var] = tile.column;
    const Store* store = plan_.result->store;
    std::vector<Expr*> indices;
    for (const Expr* index : store != nullptr ? store->indices : c_.indices)
        indices.push_back(clone(b_.module(), index, here));
    return b_.load(store != nullptr ? store->array : c_.target, std::move(indices));
}

Expr* ContractionCode::factor_in_place(const Expr& factor, const For& along, Expr* at,
                                       const Part& part, Expr* step) {
    const Segment& s = *part.segment;
    const ContractionSteps::Range& range = s.steps->ranges.front();
    Substitution here = outer_;
    here.values[along.var] = at;
    for (std::size_t l = 0; l < range.loops.size(); ++l) {
        const Var* var = range.loops[l]->var;
        if (l < part.around.size()) {
            here.vars[var] = part.around[l];
        } else {
            here.values[var] = l == s.cut ? step : bounds(*range.loops[l]).begin;
        }
    }
    return clone(b_.module(), &factor, here);
}

Expr* ContractionCode::left_place(const Tile& tile, const Part& part, Expr* row, Expr* step) {
    const Segment& s = *part.segment;
    if (!plan_.direct.empty())
        return factor_in_place(*s.steps->ranges.front().lefts.front(), *c_.rows, row, part, step);
    // If blocks of rows share the layout, each begins at a tile.
    Expr* tile_number = plan_.lefts_at_once
                            ? quotient(sub(tile.row, left_first_row_), number(plan_.tile_rows()))
                            : tile.number;
    Expr* first = plan_.lefts_at_once ? part.right_first : part.left_first;
    Expr* at =
        add(mul(tile_number, left_products_), add(first, mul(sub(step, part.begin), s.inside)));
    Expr* lane = mul(sub(row, tile.row), plan_.parts);
    return b_.load(left_, {add(mul(at, plan_.tile.rows), lane)});
}

Expr* ContractionCode::right_place(const Tile& tile, const Part& part, Expr* step) {
    const Segment& s = *part.segment;
    if (!plan_.direct_rights.empty())
        return factor_in_place(*s.steps->rights.front(), *c_.columns, tile.column, part, step);
    Expr* at = add(part.right_first, mul(sub(step, part.begin), s.inside));
    return b_.load(right_, {mul(add(right_strip(tile.strip), at), plan_.tile.columns())});
}

// Whether elements serve as the sums of whole tiles (ContractionPlan::result). Sums that start from
// zero do so once; with runs in loops, or rows with steps of their own, no run is surely the first.
bool ContractionCode::sums_in_place() const {
    if (!plan_.result) return false;
    const bool runs = !plan_.direct.empty() || !plan_.direct_rights.empty();
    const Segment& first = segments_.front();
    return !plan_.result->anew || (!first.steps->varies() && !(runs && first.cut > 0));
}

// Computes a tile, from its first product to the last.
void ContractionCode::compute_tile(const Tile& tile, Body& out) {
    const bool runs = !plan_.direct.empty() || !plan_.direct_rights.empty();
    const auto add_all = [&](const Tile& to, Body& body) {
        for (const Segment& s : segments_)
            runs ? add_runs(to, s, body) : add_products(to, whole(s), body);
    };
    const auto apart = [&](const Tile& to, Body& body) {
        begin_sums(to, body);
        add_all(to, body);
        end_sums(to, body);
    };
    if (!sums_in_place()) return apart(tile, out);
    Tile to = tile;
    to.in_result = true;
    Body whole_body;
    add_all(to, whole_body);
    Expr* full = whole_tile(tile);
    if (full == nullptr) {
        out.insert(out.end(), whole_body.begin(), whole_body.end());
        return;
    }
    Tile part = tile;
    part.partial = true;
    Body rest;
    apart(part, rest);
    out.push_back(b_.if_(full, std::move(whole_body), std::move(rest)));
}

void ContractionCode::add_products(const Tile& tile, const Part& part, Body& out) {
    const Segment& s = *part.segment;
    if (s.steps->varies()) return add_varying(tile, part, out);
    const bool all = plan_.direct.empty() && plan_.direct_rights.empty() && !plan_.products;
    Expr* count = all ? s.all : mul(sub(part.end, part.begin), s.inside);
    out.push_back(tile_call(plan_.tile_rows(), tile, part, tile.row, part.begin, count));
}

// Adds all steps of a segment, run by run.
void ContractionCode::add_runs(const Tile& tile, const Segment& s, Body& out) {
    const auto& loops = s.steps->ranges.front().loops;
    Part part;
    part.segment = &s;
    Expr* before = number(0);
    for (std::size_t l = 0; l < s.cut; ++l) {
        part.around.push_back(like(loops[l]->var));
        before = add(mul(before, s.trips[l]), sub(b_.var(part.around[l]), bounds(*loops[l]).begin));
    }
    part.begin = s.cut == 0 ? s.begin : bounds(*loops[s.cut]).begin;
    part.end = s.cut == 0 ? s.end : bounds(*loops[s.cut]).end;
    part.left_first = part.right_first = add(s.first, mul(mul(before, s.trips[s.cut]), s.inside));
    Body inner;
    add_products(tile, part, inner);
    for (std::size_t l = s.cut; l-- > 0;)
        inner = {
            loop(part.around[l], bounds(*loops[l]).begin, bounds(*loops[l]).end, std::move(inner))};
    out.insert(out.end(), inner.begin(), inner.end());
}

// Adds the steps that all rows of the tile have at once; the other steps, before and behind them,
// are added row by row.
void ContractionCode::add_varying(const Tile& tile, const Part& part, Body& out) {
    const Segment& s = *part.segment;
    const std::int64_t rows = plan_.tile_rows();
    Expr* end_row = least(add(tile.own_row, rows), tile.end_row);
    Expr* last_row = add(end_row, -1);
    Expr* begin = greatest_of(first_step(s), s.steps->begin, tile.row, last_row);
    Expr* end = least_of(end_step(s), s.steps->end, tile.row, last_row);
    begin = named(out, "common_begin", least(greatest(begin, part.begin), part.end));
    end = named(out, "common_end", least(greatest(end, begin), part.end));
    const auto some_rows = [&](bool front) {
        Var* row = like(c_.rows->var);
        Expr* own_begin = at_row(first_step(s), b_.var(row));
        Expr* own_end = at_row(end_step(s), b_.var(row));
        Body body;
        Expr* from = named(body, "row_begin", greatest(own_begin, front ? part.begin : end));
        Expr* to = named(body, "row_end", least(own_end, front ? begin : part.end));
        Stmt* call = tile_call(1, tile, part, b_.var(row), from, mul(sub(to, from), s.products));
        body.push_back(b_.if_(b_.binary(Op::kLt, copy(from), copy(to)), {call}));
        return loop(row, tile.own_row, end_row, std::move(body));
    };
    out.push_back(some_rows(true));
    out.push_back(tile_call(rows, tile, part, tile.row, begin, mul(sub(end, begin), s.products)));
    out.push_back(some_rows(false));
}

}  // namespace parpy
