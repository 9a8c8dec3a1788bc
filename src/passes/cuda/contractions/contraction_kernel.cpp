// The grid, the place of threads in a tile, the initial and final values of sums. See
// contraction_kernel.h.
#include "passes/cuda/contractions/contraction_kernel.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kBand = 8;                // rows of tiles that neighbouring blocks share
constexpr std::int64_t kPlainThreads = 256;      // of a block beside those of the tiles
constexpr std::int64_t kVectorBytes = 16;        // that a thread loads from shared memory at a time
constexpr std::int64_t kStaticBytes = 48 << 10;  // of shared memory in a static array

}  // namespace

ContractionKernel::ContractionKernel(Module& module, const Contraction& contraction,
                                     const KernelTile& tile, const Expr* scale)
    : ContractionMath(module, contraction),
      small_(b_, Scalar::kI32),
      tile_(tile),
      type_(contraction.type),
      scale_(scale) {
    lay_out();
}

Body ContractionKernel::run() {
    Body out, inner;
    measure(out);
    Expr* across = named(inner, "tile_rows", parts_of(sub(end_row_, first_row_), tile_.rows));
    Expr* down =
        named(inner, "tile_columns", parts_of(sub(end_column_, first_column_), tile_.columns));
    if (c_.copies_rights) copy_rights(inner);
    Expr* blocks = mul(across, down);
    for (const For* each : c_.outer)
        blocks = mul(blocks, sub(bounds(*each).end, bounds(*each).begin));
    blocks = named(inner, "tiles", blocks);
    Gpu* gpu = b_.gpu(blocks, tile_.threads, kernel());
    if (factors_->space == Space::kDynamic) gpu->shared_bytes = number(shared_bytes());
    inner.push_back(gpu);

    each_row(c_.before_row, out);
    inner = if_it_runs(std::move(inner), true);
    out.insert(out.end(), inner.begin(), inner.end());
    each_row(c_.behind_row, out);
    return out;
}

// The number of the thread, in a kernel of plain threads.
Expr* ContractionKernel::plain_thread(Body& out, const char* name) {
    return named(out, name,
                 add(mul(b_.convert(b_.reg(Register::kBlockX), Scalar::kI64), kPlainThreads),
                     b_.convert(b_.reg(Register::kThreadX), Scalar::kI64)));
}

// Runs statements beside the columns: each row has a thread.
void ContractionKernel::each_row(const Body& statements, Body& out) {
    if (statements.empty()) return;
    Body host, body, of_row;
    Expr* rows = sub(end_row_, first_row_);
    Expr* all = rows;
    for (const For* each : c_.outer)
        all = mul(all, sub(bounds(*each).end, bounds(*each).begin));
    all = named(host, "rows", all);
    Expr* at = plain_thread(body, "row_of_all");
    Substitution here;
    Var* row = here.vars[c_.rows->var] = like(c_.rows->var);
    of_row.push_back(b_.assign(row, add(first_row_, remainder(at, rows))));
    if (!c_.outer.empty()) place_outer(named(of_row, "rest", quotient(at, rows)), here, of_row);
    const Body copies = clone(b_.module(), statements, here);
    of_row.insert(of_row.end(), copies.begin(), copies.end());
    body.push_back(b_.if_(b_.binary(Op::kLt, copy(at), copy(all)), std::move(of_row)));
    host.push_back(b_.gpu(parts_of(all, kPlainThreads), kPlainThreads, std::move(body)));
    host = if_it_runs(std::move(host), false);
    out.insert(out.end(), host.begin(), host.end());
}

// Copies right factors that the sums are stored to into memory of their own.
void ContractionKernel::copy_rights(Body& out) {
    Body sizes;
    const std::vector<Segment> all = segments(first_row_, add(end_row_, -1), out);
    Expr* columns = named(out, "columns", sub(end_column_, first_column_));
    for (const Segment& s : all) {
        Var* rights = b_.local_array("rights", type_, {1}, Space::kScratch);
        Var* extent = b_.scalar("right_size", Scalar::kI64);
        Expr* steps = named(out, "steps", greatest(sub(s.end, s.begin), number(0)));
        Expr* elements = named(out, "elements", mul(steps, columns));
        out.push_back(b_.assign(extent, greatest(mul(elements, s.products), number(1))));
        rights->dims[0] = {std::nullopt, 1, extent, nullptr};
        out.push_back(b_.alloc(rights));

        Body body;
        Expr* at = plain_thread(body, "element");
        Var* column = like(c_.columns->var);
        Body stores = {b_.assign(column, add(first_column_, remainder(at, columns)))};
        Expr* step = named(stores, "step", quotient(at, columns));
        Substitution here = at_step(s, s.steps->ranges.front(), add(s.begin, step));
        here.vars[c_.columns->var] = column;
        for (std::size_t p = 0; p < s.steps->rights.size(); ++p) {
            Expr* place =
                add(mul(add(mul(step, s.products), static_cast<std::int64_t>(p)), columns),
                    remainder(at, columns));
            stores.push_back(
                b_.store(rights, {place}, clone(b_.module(), s.steps->rights[p], here)));
        }
        body.push_back(b_.if_(b_.binary(Op::kLt, copy(at), copy(elements)), std::move(stores)));
        Gpu* gpu = b_.gpu(parts_of(elements, kPlainThreads), kPlainThreads, std::move(body));
        const bool certain = constant_integer(elements).value_or(0) > 0;
        out.push_back(certain ? static_cast<Stmt*>(gpu)
                              : b_.if_(b_.binary(Op::kLt, number(0), copy(elements)), {gpu}));
        copies_.emplace_back(rights, s.begin);
    }
}

Body ContractionKernel::kernel() {
    Body out;
    factors_ = b_.local_array("factors", type_, {tile_.stages * stage_size()},
                              shared_bytes() > kStaticBytes ? Space::kDynamic : Space::kShared);
    out.push_back(b_.alloc(factors_));
    std::vector<std::int64_t> sums = {rows_of_thread(), columns_of_thread()};
    if (tile_.matrices) sums = {rows_of_thread() / 2, columns_of_thread() / 2, 4};
    sums_ = b_.local_array("sums", type_, sums, Space::kLocal);
    locate(out);
    Body inner;
    inner.push_back(b_.alloc(sums_));
    place_threads(inner);
    begin_sums(inner);
    bool first = true;
    for (const Segment& s : segments(row_, last_row_, inner))
        add_segment(s, std::exchange(first, false), inner);
    end_sums(inner);
    // A tile of a triangle may contain no part of it.
    Expr* some = nullptr;
    const Contraction::Bounds& columns = bounds(*c_.columns);
    if (c_.first_column != Trend::kConstant) {
        Expr* least = least_of(columns.begin, c_.first_column, row_, last_row_);
        some = both(some, b_.binary(Op::kLt, least, add(column_, tile_.columns)));
    }
    if (c_.last_column != Trend::kConstant) {
        Expr* greatest = greatest_of(columns.end, c_.last_column, row_, last_row_);
        some = both(some, b_.binary(Op::kLt, copy(column_), greatest));
    }
    if (some != nullptr) inner = {b_.if_(some, std::move(inner))};
    out.insert(out.end(), inner.begin(), inner.end());
    return out;
}

// Sets the variables of the loops around from the number of their joint iteration.
void ContractionKernel::place_outer(Expr* number, Substitution& here, Body& out) {
    for (std::size_t i = c_.outer.size(); i-- > 0;) {
        const For& each = *c_.outer[i];
        const Contraction::Bounds& range = bounds(each);
        Expr* trips = sub(range.end, range.begin);
        Var* var = here.vars[each.var] = like(each.var);
        Expr* value = i == 0 ? number : remainder(number, trips);
        out.push_back(b_.assign(var, add(range.begin, value)));
        if (i > 0) number = named(out, "rest", quotient(number, trips));
    }
}

// The tile of the block: blocks walk column by column through a few rows of tiles, so that tiles
// that run at the same time share their factors.
void ContractionKernel::locate(Body& out) {
    Expr* across = parts_of(sub(end_row_, first_row_), tile_.rows);
    Expr* down = parts_of(sub(end_column_, first_column_), tile_.columns);
    Expr* rest = named(out, "tile", b_.convert(b_.reg(Register::kBlockX), Scalar::kI64));
    if (!c_.outer.empty()) {
        Expr* tiles = named(out, "tiles", mul(across, down));
        Expr* tile = rest;
        place_outer(named(out, "rest", quotient(tile, tiles)), outer_, out);
        rest = named(out, "tile_of", remainder(tile, tiles));
    }
    Expr* row = nullptr;
    Expr* column = nullptr;
    const auto rows = constant_integer(across);
    if (rows && *rows <= kBand) {
        row = remainder(rest, across);
        column = quotient(rest, across);
    } else {
        Expr* band = named(out, "band", quotient(rest, mul(down, kBand)));
        Expr* last = b_.binary(Op::kEq, copy(band), quotient(across, number(kBand)));
        Expr* height = b_.select(last, remainder(across, number(kBand)), number(kBand));
        height = named(out, "height", height);
        Expr* within = named(out, "within", remainder(rest, mul(down, kBand)));
        row = add(mul(band, kBand), remainder(within, height));
        column = quotient(within, height);
    }
    row_ = named(out, "tile_row", least(add(first_row_, mul(row, tile_.rows)), end_row_));
    column_ = named(out, "tile_column",
                    least(add(first_column_, mul(column, tile_.columns)), end_column_));
    last_row_ = named(out, "last_row", add(least(add(row_, tile_.rows), end_row_), -1));
}

// ---------------------------------------------------------------- numbers in a tile

Expr* ContractionKernel::part(Op op, const Expr* a, std::int64_t b) {
    if (b == 1) return op == Op::kQuotient ? copy(a) : small(0);
    if (const auto known = constant_integer(a))
        return small(op == Op::kQuotient ? *known / b : *known % b);
    return b_.binary(op, copy(a), small(b));
}
Stmt* ContractionKernel::unrolled(Var* var, std::int64_t trips, Body body) {
    For* loop = b_.loop(var, small(0), small(trips), std::move(body));
    loop->mapping.unroll = true;
    return loop;
}
Expr* ContractionKernel::both(Expr* a, Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : b_.binary(Op::kAnd, a, b);
}

std::int64_t ContractionKernel::shared_bytes() const {
    return tile_.stages * stage_size() * size_in_bytes(type_);
}
std::int64_t ContractionKernel::rows_of_thread() const {
    return tile_.matrices ? tile_.own_rows / 8 : tile_.own_rows;
}
std::int64_t ContractionKernel::columns_of_thread() const {
    return tile_.matrices ? tile_.own_columns / 4 : tile_.own_columns;
}

// ---------------------------------------------------------------- threads

// A thread has contiguous groups of sums, as large as the vectors of factors that it loads, at
// distances of all threads' groups. For matrices (ir/tile.h) whose factors are laid out step by
// step, rows g and g + 8 are rows 2 g and 2 g + 1 of the tile, and columns of two matrices
// alternate: so two of them are loaded at a time.
void ContractionKernel::place_threads(Body& out) {
    thread_ = b_.named(out, "thread", b_.reg(Register::kThreadX));
    if (tile_.matrices) {
        const std::int64_t warps = tile_.columns / tile_.own_columns;
        Expr* lane = b_.named(out, "lane", part(Op::kRemainder, thread_, 32));
        Expr* warp = b_.named(out, "warp", part(Op::kQuotient, thread_, 32));
        own_row_ = b_.named(out, "own_row",
                            plus(times(part(Op::kQuotient, warp, warps), tile_.own_rows),
                                 times(part(Op::kQuotient, lane, 4), left_.by_rows ? 1 : 2)));
        own_column_ = b_.named(out, "own_column",
                               plus(times(part(Op::kRemainder, warp, warps), tile_.own_columns),
                                    times(part(Op::kRemainder, lane, 4), right_.by_rows ? 2 : 4)));
        return;
    }
    const std::int64_t across = tile_.columns / tile_.own_columns;
    own_row_ = b_.named(out, "own_row",
                        times(part(Op::kQuotient, thread_, across), group(tile_.own_rows)));
    own_column_ = b_.named(out, "own_column",
                           times(part(Op::kRemainder, thread_, across), group(tile_.own_columns)));
}

// The size of a thread's groups of factors: at most a vector, and a divisor of their number.
std::int64_t ContractionKernel::group(std::int64_t own) const {
    return std::min(own & -own, kVectorBytes / size_in_bytes(type_));
}

Expr* ContractionKernel::row_in_tile(Expr* n) {
    if (tile_.matrices && left_.by_rows) return plus(own_row_, times(n, 8));
    const std::int64_t size = tile_.matrices ? 2 : group(tile_.own_rows);
    const std::int64_t apart = tile_.matrices ? 16 : tile_.rows / tile_.own_rows * size;
    Expr* first = times(part(Op::kQuotient, n, size), apart);
    return plus(own_row_, plus(first, part(Op::kRemainder, n, size)));
}

Expr* ContractionKernel::column_in_tile(Expr* n) {
    if (tile_.matrices && right_.by_rows)
        return plus(own_column_,
                    plus(times(part(Op::kQuotient, n, 2), 8), part(Op::kRemainder, n, 2)));
    if (tile_.matrices) {  // n = 2 * matrix + column of the thread
        Expr* pair = times(part(Op::kQuotient, n, 4), 16);
        Expr* side = part(Op::kRemainder, part(Op::kQuotient, n, 2), 2);
        return plus(own_column_, plus(pair, plus(times(part(Op::kRemainder, n, 2), 2), side)));
    }
    const std::int64_t size = group(tile_.own_columns);
    Expr* first = times(part(Op::kQuotient, n, size), tile_.columns / tile_.own_columns * size);
    return plus(own_column_, plus(first, part(Op::kRemainder, n, size)));
}

std::vector<Expr*> ContractionKernel::sum_place(const Expr* row, const Expr* column) {
    if (!tile_.matrices) return {copy(row), copy(column)};
    return {part(Op::kQuotient, row, 2), part(Op::kQuotient, column, 2),
            plus(times(part(Op::kRemainder, row, 2), 2), part(Op::kRemainder, column, 2))};
}

// ---------------------------------------------------------------- sums

template <class F>
Stmt* ContractionKernel::each_sum(F&& make) {
    Var* r = b_.scalar("r", Scalar::kI32);
    Var* c = b_.scalar("c", Scalar::kI32);
    Var* row = like(c_.rows->var);
    Var* column = like(c_.columns->var);
    Body body = {b_.assign(column, add(column_, wide(column_in_tile(b_.var(c)))))};
    const Body made = make(row, column, sum_place(b_.var(r), b_.var(c)));
    body.insert(body.end(), made.begin(), made.end());
    Body of_row = {b_.assign(row, add(row_, wide(row_in_tile(b_.var(r))))),
                   unrolled(c, columns_of_thread(), std::move(body))};
    return unrolled(r, rows_of_thread(), std::move(of_row));
}

// Whether the row and column belong to the contraction, so that the sum's element exists.
Expr* ContractionKernel::inside(Expr* row, Expr* column) {
    Expr* result = nullptr;
    const auto below = [&](const Expr* a, const Expr* b) {
        result = both(result, b_.binary(Op::kLt, copy(a), copy(b)));
    };
    const auto rows = constant_integer(sub(end_row_, first_row_)),
               columns = constant_integer(sub(end_column_, first_column_));
    if (!rows || *rows % tile_.rows != 0) below(row, end_row_);
    if (!columns || *columns % tile_.columns != 0) below(column, end_column_);
    const Contraction::Bounds& range = bounds(*c_.columns);
    if (c_.first_column != Trend::kConstant)
        result = both(result, b_.binary(Op::kLe, at_row(range.begin, row), copy(column)));
    if (c_.last_column != Trend::kConstant) below(column, at_row(range.end, row));
    if (c_.may_lack_sums) result = both(result, adds_something(row));
    if (c_.condition != nullptr) {
        Substitution here;
        here.values[c_.rows->var] = row;
        here.values[c_.columns->var] = column;
        result = both(result, clone(b_.module(), c_.condition, here));
    }
    return result;
}

void ContractionKernel::begin_sums(Body& out) {
    const Expr* all = first_of_all();
    out.push_back(each_sum([&](Var* row, Var* column, std::vector<Expr*> place) {
        if (all != nullptr) return Body{b_.store(sums_, std::move(place), copy(all))};
        Substitution here = outer_;
        here.vars[c_.rows->var] = row;
        here.vars[c_.columns->var] = column;
        std::vector<Expr*> other;
        for (const Expr* index : place)
            other.push_back(copy(index));
        Body body;
        Expr* first = first_sum(here, body);
        body.push_back(b_.store(sums_, std::move(place), first));
        Expr* some = inside(b_.var(row), b_.var(column));
        if (some == nullptr) return body;
        return Body{
            b_.if_(some, std::move(body), {b_.store(sums_, std::move(other), b_.real(0, type_))})};
    }));
}

void ContractionKernel::end_sums(Body& out) {
    out.push_back(each_sum([&](Var* row, Var* column, std::vector<Expr*> place) {
        Substitution here = outer_;
        here.vars[c_.rows->var] = row;
        here.vars[c_.columns->var] = column;
        Body body = last_sum(here, b_.load(sums_, std::move(place)));
        Expr* some = inside(b_.var(row), b_.var(column));
        return some == nullptr ? body : Body{b_.if_(some, std::move(body))};
    }));
}

}  // namespace parpy
