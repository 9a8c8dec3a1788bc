// The loops over blocks and tiles, and their sizes. See contraction_code.h.
#include "passes/cpu/contraction_code.h"

#include <algorithm>
#include <cmath>

#include "analysis/cost.h"
#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kPacked = 0.3;  // nanoseconds of a factor that is laid out

}  // namespace

ContractionCode::ContractionCode(Module& module, const Contraction& contraction,
                                 const ContractionPlan& plan, const ContractionPlace& place)
    : ContractionMath(module, contraction),
      plan_(plan),
      place_(place),
      type_(real_part_of(contraction.type)) {}

Body ContractionCode::run() {
    Body out, inside;
    measure(out);
    all_rows(c_.before_row, inside);
    measure_steps(inside);
    Body sums;
    // Memory for the right factors of a panel, in strips of a tile's columns.
    const std::int64_t strip = plan_.tile.columns();
    Expr* columns = greatest(sub(end_column_, first_column_), number(0));
    Expr* panel_columns = nullptr;  // null: all
    const auto constant_columns = constant_integer(columns), all = constant_integer(products_);
    const std::int64_t size = size_in_bytes(type_);
    const std::int64_t most = plan_.panel_bytes / size;
    const auto by_products = [&](std::int64_t products) {
        return std::max(most / std::max<std::int64_t>(products, 1) / plan_.columns,
                        std::int64_t{1}) *
               plan_.columns;
    };
    if (place_.on_host && plan_.panel_bytes > 0 && rights_first() &&
        !(constant_columns && all && *constant_columns <= by_products(*all))) {
        panel_columns = all ? number(by_products(*all))
                            : mul(greatest(quotient(number(most / plan_.columns),
                                                    greatest(products_, number(1))),
                                           number(1)),
                                  plan_.columns);
        panel_columns = named(sums, "panel_columns", panel_columns);
    }
    Expr* held = panel_columns == nullptr ? columns : least(columns, panel_columns);
    Expr* elements = mul(mul(parts_of(held, strip), strip), products_);
    if (rights_first()) {
        right_ = b_.local_array("right", type_, {1}, place_.on_host ? Space::kWork : Space::kLocal);
        if (const auto known = constant_integer(elements)) {
            right_->dims[0].extent = std::max<std::int64_t>(*known, 1);
        } else {
            Var* extent = b_.scalar("right_size", Scalar::kI64);
            sums.push_back(b_.assign(extent, elements));
            right_->dims[0] = {std::nullopt, 1, extent, nullptr};
        }
        sums.push_back(b_.alloc(right_));
    }
    if (plan_.lefts_at_once) all_lefts(sums);
    if (panel_columns == nullptr) {
        const Body body = panel(first_column_, end_column_);
        sums.insert(sums.end(), body.begin(), body.end());
    } else {
        Var* at = b_.scalar("panel", Scalar::kI64);
        Body body;
        Expr* first =
            named(body, "panel_first", add(first_column_, mul(b_.var(at), panel_columns)));
        Expr* end = named(body, "panel_end", least(add(first, panel_columns), end_column_));
        const Body code = panel(first, end);
        body.insert(body.end(), code.begin(), code.end());
        Expr* panels = quotient(add(add(columns, panel_columns), -1), panel_columns);
        sums.push_back(loop(at, number(0), panels, std::move(body)));
    }
    Expr* any = c_.may_lack_sums ? any_products() : nullptr;
    if (any != nullptr) {
        inside.push_back(b_.if_(any, std::move(sums)));
    } else {
        inside.insert(inside.end(), sums.begin(), sums.end());
    }
    all_rows(c_.behind_row, inside);

    // Factors may be read only if a row and the loops around have iterations.
    inside = if_it_runs(std::move(inside), false);
    out.insert(out.end(), inside.begin(), inside.end());
    return out;
}

// ---------------------------------------------------------------- sizes

const Expr* ContractionCode::first_step(const Segment& s) const {
    return bounds(*s.steps->ranges.front().loops.front()).begin;
}
const Expr* ContractionCode::end_step(const Segment& s) const {
    return bounds(*s.steps->ranges.back().loops.front()).end;
}

void ContractionCode::measure_steps(Body& out) {
    Expr* last_row = add(end_row_, -1);
    products_ = number(0);
    for (std::size_t i = 0; i < c_.steps.size(); ++i) {
        const ContractionSteps& steps = c_.steps[i];
        Segment s;
        s.steps = &steps;
        s.number = i;
        s.cut = plan_.cuts[i].loop;
        s.iterations = plan_.cuts[i].iterations;
        s.products = static_cast<std::int64_t>(steps.rights.size()) * plan_.parts;
        s.begin =
            named(out, "first_step", least_of(first_step(s), steps.begin, first_row_, last_row));
        s.end = named(out, "end_step", greatest_of(end_step(s), steps.end, first_row_, last_row));
        const auto& loops = steps.ranges.front().loops;
        for (std::size_t l = 0; l < loops.size(); ++l) {
            Expr* trips =
                l == 0 ? sub(s.end, s.begin) : sub(bounds(*loops[l]).end, bounds(*loops[l]).begin);
            s.trips.push_back(
                named(out, loops[l]->var->name + "_steps", greatest(trips, number(0))));
        }
        s.inside = number(s.products);
        for (std::size_t l = s.cut + 1; l < loops.size(); ++l)
            s.inside = mul(s.inside, s.trips[l]);
        s.all = s.inside;
        for (std::size_t l = 0; l <= s.cut; ++l)
            s.all = mul(s.all, s.trips[l]);
        s.all = named(out, "products", s.all);
        s.first = products_;
        products_ = add(products_, s.all);
        segments_.push_back(std::move(s));
    }
    products_ = named(out, "all_products", products_);
    left_products_ = right_products_ = products_;
    if (!plan_.products) return;
    std::int64_t most = 0;
    for (const Segment& s : segments_)
        most = std::max(most, s.iterations * constant_integer(s.inside).value_or(s.products));
    if (!plan_.lefts_at_once) left_products_ = number(most);
    if (plan_.rights_of_block) right_products_ = number(most);
}

// Whether there are any products; null if there certainly are.
Expr* ContractionCode::any_products() {
    const auto known = constant_integer(products_);
    if (known && *known > 0) return nullptr;
    return b_.binary(Op::kLt, number(0), copy(products_));
}

// Runs the statements of each row in a loop of their own.
void ContractionCode::all_rows(const Body& statements, Body& out) {
    if (statements.empty()) return;
    Substitution substitution;
    std::vector<Var*> variables;
    for (const For* each : c_.outer)
        variables.push_back(substitution.vars[each->var] = like(each->var));
    Var* row = substitution.vars[c_.rows->var] = like(c_.rows->var);
    Body body = clone(b_.module(), statements, substitution);
    const Level level = place_.parallel ? Level::kWorkers : Level::kSequential;
    body = {loop(row, first_row_, end_row_, std::move(body),
                 c_.outer.empty() ? level : Level::kSequential)};
    for (std::size_t i = c_.outer.size(); i-- > 0;) {
        body = {loop(variables[i], bounds(*c_.outer[i]).begin, bounds(*c_.outer[i]).end,
                     std::move(body), i == 0 ? level : Level::kSequential)};
    }
    out.insert(out.end(), body.begin(), body.end());
}

// ---------------------------------------------------------------- blocks

// Lays out the left factors of all rows.
void ContractionCode::all_lefts(Body& out) {
    Expr* tiles = parts_of(sub(end_row_, first_row_), plan_.tile_rows());
    left_ = b_.local_array("left", type_, {1}, Space::kWork);
    left_->dims[0].extent = std::max<std::int64_t>(
        constant_integer(mul(mul(tiles, plan_.tile.rows), products_)).value_or(1), 1);
    left_first_row_ = first_row_;
    out.push_back(b_.alloc(left_));
    auto* all = row_tiles(first_row_, end_row_, [&](Expr* tile, Expr* row, Body& body) {
                    for (const Segment& s : segments_)
                        pack_left(whole(s), tile, row, end_row_, body);
                })->as<For>();
    if (place_.parallel) on_workers(*all);
    out.push_back(all);
}

Body ContractionCode::panel(Expr* first, Expr* end) {
    Body out;
    panel_first_ = first;
    panel_end_ = end;
    const Level level = place_.parallel ? Level::kWorkers : Level::kSequential;
    Expr* strips =
        named(out, "strips", parts_of(greatest(sub(end, first), number(0)), plan_.tile.columns()));
    if (rights_first()) {
        Var* strip = b_.scalar("strip", Scalar::kI64);
        std::vector<Part> all;
        for (const Segment& s : segments_)
            all.push_back(whole(s));
        Stmt* packed = pack_right(all, b_.var(strip), b_.var(strip));
        For* packing = loop(strip, number(0), strips, {packed}, level);
        packing->cost = cost(kPacked * static_cast<double>(plan_.tile.columns()), {products_}, {});
        out.push_back(packing);
    }

    Expr* rows = sub(end_row_, first_row_);
    Expr* of_rows = named(out, "row_blocks", parts_of(rows, plan_.rows));
    Expr* of_columns =
        named(out, "column_blocks", parts_of(strips, plan_.columns / plan_.tile.columns()));
    Expr* blocks = mul(of_rows, of_columns);
    for (const For* each : c_.outer)
        blocks = mul(blocks, sub(bounds(*each).end, bounds(*each).begin));
    Var* at = b_.scalar("block", Scalar::kI64);
    For* all = loop(at, number(0), named(out, "blocks", blocks), block(b_.var(at), of_rows, strips),
                    level);
    // All blocks count the same, though some of a triangle are empty.
    const auto sums = static_cast<double>(plan_.tile.rows * plan_.tile.columns());
    const bool half = c_.is_triangle() || std::ranges::any_of(c_.steps, &ContractionSteps::varies);
    const double product = cost_of_step(plan_.tile, type_) / sums *
                           static_cast<double>(plan_.parts) * (half ? 0.5 : 1);
    all->cost = cost(product, {rows, sub(end, first), products_}, {of_rows, of_columns});
    out.push_back(all);
    return out;
}

// Rows change fastest from block to block, so that the right factors stay in cache.
Body ContractionCode::block(Expr* number_of, Expr* blocks_of_rows, Expr* strips) {
    Body out;
    const std::int64_t strips_of_block = plan_.columns / plan_.tile.columns();
    Expr* rest = number_of;
    outer_ = {};
    std::vector<Expr*> sizes;
    for (std::size_t i = c_.outer.size(); i-- > 0;) {
        const Contraction::Bounds& range = bounds(*c_.outer[i]);
        sizes.push_back(sub(range.end, range.begin));
    }
    // block = ((outer …) * column_blocks + column block) * row_blocks + row block
    Expr* column_blocks = parts_of(strips, strips_of_block);
    const bool only_rows = c_.outer.empty() && constant_integer(column_blocks) == 1;
    Expr* of_rows = only_rows ? rest : remainder(rest, blocks_of_rows);
    rest = quotient(rest, blocks_of_rows);
    Expr* of_columns = number(0);
    if (constant_integer(column_blocks) != 1) {
        of_columns = c_.outer.empty() ? rest : remainder(rest, column_blocks);
        rest = quotient(rest, column_blocks);
    }
    for (std::size_t i = c_.outer.size(); i-- > 0;) {
        const For& each = *c_.outer[i];
        Var* var = outer_.vars[each.var] = like(each.var);
        Expr* trips = sizes[c_.outer.size() - 1 - i];
        Expr* value = i == 0 ? rest : remainder(rest, trips);
        out.push_back(b_.assign(var, add(bounds(each).begin, value)));
        rest = quotient(rest, trips);
    }
    Expr* row = named(out, "row", add(first_row_, mul(of_rows, plan_.rows)));
    const auto rows = constant_integer(sub(end_row_, first_row_));
    Expr* row_end = rows && *rows % plan_.rows == 0
                        ? add(row, plan_.rows)
                        : named(out, "row_end", least(add(row, plan_.rows), end_row_));
    Expr* first_strip = named(out, "first_strip", mul(of_columns, strips_of_block));
    Expr* end_strip = constant_integer(column_blocks) == 1
                          ? copy(strips)
                          : least(add(first_strip, strips_of_block), strips);
    clip_strips(out, row, row_end, first_strip, end_strip);
    compute(out, row, row_end, first_strip, end_strip);
    return out;
}

// Excludes strips of columns that no row of the block has.
void ContractionCode::clip_strips(Body& out, Expr* first_row, Expr* end_row, Expr*& first_strip,
                                  Expr*& end_strip) {
    const Contraction::Bounds& columns = bounds(*c_.columns);
    const std::int64_t strip = plan_.tile.columns();
    Expr* last_row = add(end_row, -1);
    if (c_.first_column != Trend::kConstant) {
        Expr* first =
            sub(least_of(columns.begin, c_.first_column, first_row, last_row), panel_first_);
        first_strip = greatest(first_strip, quotient(greatest(first, number(0)), number(strip)));
    }
    if (c_.last_column != Trend::kConstant) {
        Expr* end =
            sub(greatest_of(columns.end, c_.last_column, first_row, last_row), panel_first_);
        end_strip = least(end_strip, parts_of(greatest(end, number(0)), strip));
    }
    first_strip = named(out, "strip_begin", first_strip);
    end_strip = named(out, "strip_end", end_strip);
}

void ContractionCode::compute(Body& out, Expr* first_row, Expr* end_row, Expr* first_strip,
                              Expr* end_strip) {
    const std::int64_t in_tile = plan_.tile.rows * plan_.tile.columns();
    const std::int64_t tiles_of_rows = plan_.rows / plan_.tile_rows();
    const std::int64_t strips = plan_.columns / plan_.tile.columns();
    const std::int64_t kept = plan_.products ? in_tile * tiles_of_rows * strips : in_tile;
    const bool packs = plan_.direct.empty() && !plan_.lefts_at_once;
    if (packs) {
        const std::int64_t products = constant_integer(left_products_).value_or(1);
        left_ = b_.local_array("left", type_,
                               {std::max<std::int64_t>(plan_.rows * plan_.parts * products, 1)},
                               Space::kLocal);
        left_first_row_ = first_row;
        out.push_back(b_.alloc(left_));
    }
    if (plan_.rights_of_block) {
        const std::int64_t products = constant_integer(right_products_).value_or(1);
        right_ = b_.local_array("right", type_, {plan_.columns * products}, Space::kLocal);
        out.push_back(b_.alloc(right_));
    }
    sums_ = b_.local_array("sums", type_, {kept}, Space::kLocal);
    Stmt* const memory = b_.alloc(sums_);
    out.push_back(memory);
    if (!plan_.products) {
        if (packs) {
            out.push_back(row_tiles(first_row, end_row, [&](Expr* tile, Expr* row, Body& body) {
                for (const Segment& s : segments_)
                    pack_left(whole(s), tile, row, end_row, body);
            }));
        }
        out.push_back(tiles(first_row, end_row, first_strip, end_strip,
                            [&](const Tile& tile, Body& body) { compute_tile(tile, body); }));
        if (!uses_of(*out.back()).touches(sums_)) std::erase(out, memory);
        return;
    }
    out.push_back(tiles(first_row, end_row, first_strip, end_strip,
                        [&](const Tile& tile, Body& body) { begin_sums(tile, body); }));
    for (const Segment& s : segments_) {
        parts(s, first_row, end_row, out, [&](const Part& part, Body& body) {
            if (packs) {
                body.push_back(
                    row_tiles(first_row, end_row, [&](Expr* tile, Expr* row, Body& inner) {
                        pack_left(part, tile, row, end_row, inner);
                    }));
            }
            if (plan_.rights_of_block) {
                Var* strip = b_.scalar("strip", Scalar::kI64);
                Stmt* packed = pack_right({part}, b_.var(strip), sub(b_.var(strip), first_strip));
                body.push_back(loop(strip, first_strip, end_strip, {packed}));
            }
            body.push_back(
                tiles(first_row, end_row, first_strip, end_strip,
                      [&](const Tile& tile, Body& inner) { add_products(tile, part, inner); }));
        });
    }
    out.push_back(tiles(first_row, end_row, first_strip, end_strip,
                        [&](const Tile& tile, Body& body) { end_sums(tile, body); }));
}

Stmt* ContractionCode::tiles(Expr* first_row, Expr* end_row, Expr* first_strip, Expr* end_strip,
                             const std::function<void(const Tile&, Body&)>& body) {
    Var* strip = b_.scalar("strip", Scalar::kI64);
    const std::int64_t rows = plan_.tile_rows(), tiles_of_rows = plan_.rows / rows;
    const std::int64_t in_tile = plan_.tile.rows * plan_.tile.columns();
    Tile tile;
    tile.strip =
        plan_.rights_of_block ? sub(b_.var(strip), first_strip) : static_cast<Expr*>(b_.var(strip));
    tile.end_row = end_row;
    Body of_strip;
    const std::int64_t columns = plan_.tile.columns();
    tile.column = tile.own_column =
        named(of_strip, "column", add(panel_first_, mul(b_.var(strip), columns)));
    const auto all_columns = constant_integer(sub(end_column_, first_column_));
    if (!plan_.direct_rights.empty() && all_columns && *all_columns % columns != 0)
        tile.column =
            named(of_strip, "tile_column", least(tile.own_column, add(end_column_, -columns)));
    of_strip.push_back(row_tiles(first_row, end_row, [&](Expr* number_of, Expr* row, Body& inner) {
        tile.number = number_of;
        tile.row = tile.own_row = row;
        tile.sums = number(0);
        if (plan_.products) {
            Expr* before = mul(sub(b_.var(strip), first_strip), tiles_of_rows);
            tile.sums = named(inner, "first_sum", mul(add(before, number_of), in_tile));
        }
        // Elements behind the last row may not exist: the last tile begins that much earlier.
        const auto all_rows = constant_integer(sub(end_row_, first_row_));
        if (!plan_.direct.empty() && all_rows && *all_rows % rows != 0)
            tile.row = named(inner, "first_tile_row", least(row, add(end_row_, -rows)));
        body(tile, inner);
    }));
    return loop(strip, first_strip, end_strip, std::move(of_strip));
}

// Calls body(tile, its first row, out) for the tiles that the rows are cut into.
Stmt* ContractionCode::row_tiles(Expr* first_row, Expr* end_row,
                                 const std::function<void(Expr*, Expr*, Body&)>& body) {
    Var* band = b_.scalar("band", Scalar::kI64);
    const std::int64_t rows = plan_.tile_rows();
    Body inner;
    Expr* row = named(inner, "tile_row", add(first_row, mul(b_.var(band), rows)));
    body(b_.var(band), row, inner);
    return loop(band, number(0), parts_of(sub(end_row, first_row), rows), std::move(inner));
}

// ---------------------------------------------------------------- steps

ContractionCode::Part ContractionCode::whole(const Segment& s) {
    Part part;
    part.segment = &s;
    part.begin = s.begin;
    part.end = s.end;
    part.left_first = s.first;
    part.right_first = s.first;
    return part;
}

void ContractionCode::parts(const Segment& s, Expr* first_row, Expr* end_row, Body& out,
                            const std::function<void(const Part&, Body&)>& body) {
    const auto& loops = s.steps->ranges.front().loops;
    Part part;
    part.segment = &s;
    part.left_first = part.right_first = number(0);
    Exprs begins;
    for (std::size_t l = 0; l < s.cut; ++l) {
        part.around.push_back(like(loops[l]->var));
        begins.push_back(bounds(*loops[l]).begin);
    }
    Expr* before = number(0);  // runs of the loop that is cut, before this one
    for (std::size_t l = 0; l < s.cut; ++l)
        before = add(mul(before, s.trips[l]), sub(b_.var(part.around[l]), begins[l]));
    Expr* first = s.cut == 0 ? s.begin : bounds(*loops[s.cut]).begin;
    Expr* begin = first;
    Expr* end = s.cut == 0 ? s.end : bounds(*loops[s.cut]).end;
    Expr* last_row = add(end_row, -1);
    if (s.steps->begin != Trend::kConstant)
        begin =
            named(out, "step_begin", least_of(first_step(s), s.steps->begin, first_row, last_row));
    if (s.steps->end != Trend::kConstant)
        end = named(out, "step_end", greatest_of(end_step(s), s.steps->end, first_row, last_row));
    Var* at = b_.scalar("step", Scalar::kI64);
    part.begin = b_.var(at);
    Body inner;
    const auto from = constant_integer(begin), to = constant_integer(end);
    const bool even = from && to && (*to - *from) % s.iterations == 0;
    part.end = even ? add(part.begin, s.iterations)
                    : named(inner, "step_end", least(add(part.begin, s.iterations), end));
    Expr* iteration = s.cut == 0 ? sub(part.begin, first)
                                 : add(mul(before, s.trips[s.cut]), sub(part.begin, first));
    if (!plan_.rights_of_block) part.right_first = add(s.first, mul(iteration, s.inside));
    body(part, inner);
    For* blocks = loop(at, begin, end, std::move(inner));
    blocks->step = number(s.iterations);
    Stmt* all = blocks;
    for (std::size_t l = s.cut; l-- > 0;)
        all = loop(part.around[l], bounds(*loops[l]).begin, bounds(*loops[l]).end, {all});
    out.push_back(all);
}

// An expression for so many nanoseconds, multiplied and divided by these.
Expr* ContractionCode::cost(double nanoseconds, const Exprs& times, const Exprs& by) {
    Exprs factors, divisors;
    for (Expr* each : times) {
        const auto known = constant_integer(each);
        known ? void(nanoseconds *= static_cast<double>(*known)) : factors.push_back(each);
    }
    for (Expr* each : by) {
        const auto known = constant_integer(each);
        known ? void(nanoseconds /= std::max(static_cast<double>(*known), 1.0))
              : divisors.push_back(each);
    }
    const double digits = std::pow(10, 3 - std::floor(std::log10(std::max(nanoseconds, 1e-3))));
    Expr* result = b_.real(std::round(nanoseconds * digits) / digits, Scalar::kF64);
    for (const Expr* each : factors)
        result = b_.binary(Op::kMul, result, b_.convert(copy(each), Scalar::kF64));
    for (const Expr* each : divisors)
        result = b_.binary(Op::kDiv, result, b_.convert(copy(each), Scalar::kF64));
    return result;
}

// ---------------------------------------------------------------- loops

For* ContractionCode::loop(Var* var, const Expr* begin, const Expr* end, Body body, Level level) {
    For* made = b_.loop(var, copy(begin), copy(end), std::move(body));
    if (level == Level::kWorkers) on_workers(*made);
    if (level == Level::kVector) {
        made->mapping.level = level;
        made->mapping.threads = 1;
    }
    return made;
}

void ContractionCode::on_workers(For& loop) const {
    loop.mapping.level = Level::kWorkers;
    loop.mapping.threads = place_.threads;
}

Substitution ContractionCode::with(std::initializer_list<std::pair<const Var*, Var*>> vars) const {
    Substitution result = outer_;
    for (const auto& [from, to] : vars)
        result.vars[from] = to;
    return result;
}

}  // namespace parpy
