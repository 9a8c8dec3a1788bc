// The state, the launches, and the parts of a tile around its steps. See stencil_kernel.h.
#include "passes/stencils/stencil_kernel.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kPlainThreads = 256;  // of a block of the kernels that copy
constexpr std::int64_t kPitch = 16;          // rows of a state are aligned to so many elements

}  // namespace

StencilKernel::StencilKernel(Module& module, const Stencil& stencil, const StencilTile& tile)
    : b_(module, stencil.time->span),
      math_(b_, Scalar::kI64),
      small_(b_, Scalar::kI32),
      stencil_(stencil),
      tile_(tile),
      type_(stencil.arrays.front().array->type.scalar),
      plane_(stencil.rank == 2),
      threads_(kWarpSize * tile.warps),
      vector_(16 / element_bytes(stencil)) {}

// ---------------------------------------------------------------- numbers

Expr* StencilKernel::mul(const Expr* a, std::int64_t b) {
    return math_.multiply(copy(a), number(b));
}
Expr* StencilKernel::quotient(const Expr* a, std::int64_t b) {
    if (const auto known = constant_integer(a)) return number(*known / b);
    return b == 1 ? copy(a) : b_.binary(Op::kQuotient, copy(a), number(b));
}
Expr* StencilKernel::remainder(const Expr* a, std::int64_t b) {
    if (const auto known = constant_integer(a)) return number(*known % b);
    return b == 1 ? number(0) : b_.binary(Op::kRemainder, copy(a), number(b));
}
Expr* StencilKernel::both(Expr* a, Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : b_.binary(Op::kAnd, a, b);
}
Stmt* StencilKernel::unrolled(Var* var, std::int64_t begin, std::int64_t end, Body body) {
    For* loop = b_.loop(var, small(begin), small(end), std::move(body));
    loop->mapping.unroll = true;
    return loop;
}
template <class F>
Stmt* StencilKernel::each_own(F&& make) {
    Var* r = counter("r");
    Var* c = counter("c");
    return unrolled(r, 0, tile_.rows, {unrolled(c, 0, tile_.columns, make(r, c))});
}

// ---------------------------------------------------------------- host

StencilKernel::Range StencilKernel::region(const StencilSweep& sweep, std::size_t axis) {
    const StencilSweep::Axis& along = sweep.axes[axis];
    if (along.loop == nullptr) return {number(along.shift), number(along.shift + 1)};
    const auto place = [&](const std::optional<std::int64_t>& part, const Expr* bound) {
        if (part) return number(*part + along.shift);
        return add(b_.convert(copy(bound), Scalar::kI64), along.shift);
    };
    return {place(along.begin, along.loop->begin), place(along.end, along.loop->end)};
}

// Computes the places that the sweeps write, and the number of tiles.
void StencilKernel::measure(Body& out) {
    for (std::size_t k = 0; k < stencil_.rank; ++k) {
        Range outer;
        for (const StencilSweep& s : stencil_.sweeps) {
            const Range own = region(s, k);
            if (outer.begin == nullptr) outer = own;
            if (!same(*outer.begin, *own.begin))
                outer.begin = math_.least(copy(outer.begin), copy(own.begin));
            if (!same(*outer.end, *own.end))
                outer.end = math_.greatest(copy(outer.end), copy(own.end));
        }
        first_.push_back(b_.named(out, "first", copy(outer.begin)));
        end_.push_back(b_.named(out, "end", copy(outer.end)));
        const std::int64_t useful = tile_.useful[k + 2 - stencil_.rank];
        Expr* length = math_.greatest(sub(end_[k], first_[k]), number(0));
        tiles_.push_back(b_.named(out, "tiles", quotient(add(length, useful - 1), useful)));
        const std::int64_t margin = tile_.all[k + 2 - stencil_.rank] - useful;
        Expr* size = add(mul(tiles_[k], useful), margin);
        const bool last = k + 1 == stencil_.rank;
        if (last) size = mul(quotient(add(size, kPitch - 1), kPitch), kPitch);
        (last ? columns_ : rows_) = b_.named(out, last ? "columns" : "rows", size);
    }
}

Dim StencilKernel::dimension(Body& out, const char* name, Expr* value) {
    if (const auto known = constant_integer(value)) return {*known, std::nullopt, nullptr, nullptr};
    Var* var = b_.scalar(name, Scalar::kI64);
    out.push_back(b_.assign(var, copy(value)));
    return {std::nullopt, std::nullopt, var, nullptr};
}

// The state has two halves, of which a launch reads one and writes the other.
Var* StencilKernel::make_state(const StencilArray& array, Body& out) {
    std::vector<std::int64_t> ones(stencil_.rank + 1, 1);
    Var* state = b_.local_array(array.array->name + "_state", type_, ones, Space::kScratch);
    std::vector<Expr*> sizes = {number(2)};
    if (plane_) sizes.push_back(rows_);
    sizes.push_back(columns_);
    Expr* stride = number(1);
    for (std::size_t k = sizes.size(); k-- > 0;) {
        Dim dim = dimension(out, "state_size", sizes[k]);
        const Dim of_stride = dimension(out, "state_stride", stride);
        dim.stride = of_stride.extent;
        dim.stride_var = of_stride.extent_var;
        state->dims[k] = dim;
        stride = mul(stride, sizes[k]);
    }
    out.push_back(b_.alloc(state));
    return state;
}

// Copies the arrays into both halves of the states, or elements that sweeps may have changed back.
Body StencilKernel::each_element(bool in) {
    Body out, body, inner;
    Expr* all = b_.named(out, "elements", plane_ ? mul(rows_, columns_) : copy(columns_));
    Expr* index = b_.named(
        body, "element",
        add(mul(wide(b_.reg(Register::kBlockX)), kPlainThreads), wide(b_.reg(Register::kThreadX))));
    std::vector<Expr*> at;
    if (plane_)
        at.push_back(b_.named(inner, "row", b_.binary(Op::kQuotient, copy(index), copy(columns_))));
    at.push_back(
        plane_ ? b_.named(inner, "column", b_.binary(Op::kRemainder, copy(index), copy(columns_)))
               : index);
    std::vector<Expr*> places;
    Expr* written = nullptr;
    for (std::size_t k = 0; k < stencil_.rank; ++k) {
        const std::int64_t low = tile_.steps * stencil_.below[k];
        places.push_back(b_.named(inner, "place", add(at[k], add(first_[k], -low))));
        written = both(written, both(at_most(first_[k], places[k]), less(places[k], end_[k])));
    }
    const auto in_state = [&](std::int64_t half) {
        std::vector<Expr*> result = {in ? number(half) : b_.var(from_)};
        for (const Expr* each : at)
            result.push_back(copy(each));
        return result;
    };
    for (const StencilArray& each : stencil_.arrays) {
        if (!each.carried) continue;
        Var* state = states_.at(each.array);
        if (in) {
            Expr* wanted = nullptr;
            for (std::size_t k = 0; k < stencil_.rank; ++k) {
                const Range range = loaded(*each.array, k);
                wanted =
                    both(wanted, both(at_most(range.begin, places[k]), less(places[k], range.end)));
            }
            Var* value = b_.scalar("value", type_);
            inner.push_back(b_.assign(value, b_.constant(Type::of(type_), {std::int64_t{0}})));
            inner.push_back(b_.if_(wanted, {b_.assign(value, element(each.array, places))}));
            inner.push_back(b_.store(state, in_state(0), b_.var(value)));
            inner.push_back(b_.store(state, in_state(1), b_.var(value)));
        } else {
            std::vector<Expr*> to;
            for (const Expr* place : places)
                to.push_back(copy(place));
            inner.push_back(b_.if_(both(copy(written), in_extents(*each.array, places)),
                                   {b_.store(each.array, to, b_.load(state, in_state(0)))}));
        }
    }
    body.push_back(b_.if_(less(index, all), std::move(inner)));
    out.push_back(b_.gpu(quotient(add(all, kPlainThreads - 1), kPlainThreads), kPlainThreads,
                         std::move(body)));
    return out;
}

Body StencilKernel::run() {
    Body out, inner;
    For& time = *stencil_.time;
    const auto wide_bound = [&](const Expr* e) { return b_.convert(copy(e), Scalar::kI64); };
    Expr* begin = b_.named(out, "begin", wide_bound(time.begin));
    Expr* steps = b_.named(out, "tiled_steps",
                           math_.greatest(add(sub(wide_bound(time.end), begin), -1), number(0)));
    measure(out);
    time_ = begin;
    from_ = b_.scalar("from", Scalar::kI64);
    steps_ = b_.scalar("steps", Scalar::kI64);
    past_ = b_.scalar("past", Scalar::kI64);
    for (const StencilArray& each : stencil_.arrays) {
        if (each.carried) states_[each.array] = make_state(each, inner);
    }
    const Body in = each_element(true);
    inner.insert(inner.end(), in.begin(), in.end());

    Expr* launches =
        b_.named(inner, "launches", quotient(add(steps, tile_.steps - 1), tile_.steps));
    Var* number_of = b_.scalar("launch", Scalar::kI64);
    Body body = {b_.assign(from_, remainder(b_.var(number_of), 2)),
                 b_.assign(past_, mul(b_.var(number_of), tile_.steps)),
                 b_.assign(steps_, math_.least(sub(steps, b_.var(past_)), number(tile_.steps)))};
    Expr* tiles =
        b_.named(inner, "all_tiles", plane_ ? mul(tiles_[0], tiles_[1]) : copy(tiles_[0]));
    Expr* blocks = plane_ ? math_.least(copy(tiles), number(tile_.blocks * kMultiprocessors))
                          : quotient(add(tiles, tile_.warps - 1), tile_.warps);
    Gpu* gpu = b_.gpu(blocks, threads_, kernel());
    if (staged_ != nullptr) gpu->shared_bytes = number(*staged_->dims[0].extent * (16 / vector_));
    body.push_back(gpu);
    inner.push_back(b_.loop(number_of, number(0), launches, std::move(body)));

    inner.push_back(b_.assign(from_, remainder(launches, 2)));
    const Body back = each_element(false);
    inner.insert(inner.end(), back.begin(), back.end());

    // Nothing is launched without steps, or without places to write.
    Expr* runs = nullptr;
    const auto require = [&](const Expr* value) {
        const auto known = constant_integer(value);
        if (!known || *known <= 0) runs = both(runs, less(number(0), value));
    };
    require(steps);
    for (const Expr* each : tiles_)
        require(each);
    if (runs != nullptr) inner = {b_.if_(runs, std::move(inner))};
    out.insert(out.end(), inner.begin(), inner.end());
    // If nothing was launched, no step would have written anything.
    time.begin = b_.convert(add(begin, steps), time.var->type.scalar);
    return out;
}

// ---------------------------------------------------------------- a tile

std::vector<Expr*> StencilKernel::places(Var* r, Var* c) {
    std::vector<Expr*> result;
    if (plane_) result.push_back(add(place_[0], wide(b_.var(r))));
    result.push_back(add(place_.back(), wide(b_.var(c))));
    return result;
}
std::vector<Expr*> StencilKernel::state_places(Expr* half, Var* r, Var* c) {
    std::vector<Expr*> result = {half};
    if (plane_) result.push_back(add(at_[0], wide(b_.var(r))));
    result.push_back(add(at_.back(), wide(b_.var(c))));
    return result;
}
Expr* StencilKernel::in_extents(const Var& array, const std::vector<Expr*>& places) {
    Expr* result = nullptr;
    for (std::size_t k = 0; k < stencil_.rank; ++k) {
        Expr* extent = b_.extent(array.dims[k]);
        result = both(result, both(at_most(number(0), places[k]), less(places[k], extent)));
    }
    return result;
}
// The places along an axis that sweeps load: a part of a call has no others in memory.
StencilKernel::Range StencilKernel::loaded(const Var& array, std::size_t axis) {
    std::int64_t below = 0, above = 0;
    for (const StencilSweep& s : stencil_.sweeps) {
        below = std::max(below, s.below[axis]);
        above = std::max(above, s.above[axis]);
    }
    return {math_.greatest(add(copy(first_[axis]), -below), number(0)),
            math_.least(b_.extent(array.dims[axis]), add(copy(end_[axis]), above))};
}
Expr* StencilKernel::element(Var* array, const std::vector<Expr*>& places) {
    std::vector<Expr*> indices;
    for (const Expr* place : places)
        indices.push_back(copy(place));
    return b_.load(array, indices);
}

std::vector<Expr*> StencilKernel::corner(Expr* number_of, Body& out) {
    if (!plane_) return {b_.named(out, "column", mul(number_of, tile_.useful[1]))};
    Expr* down = b_.binary(Op::kQuotient, copy(number_of), copy(tiles_[1]));
    Expr* across = b_.binary(Op::kRemainder, copy(number_of), copy(tiles_[1]));
    return {b_.named(out, "row", mul(down, tile_.useful[0])),
            b_.named(out, "column", mul(across, tile_.useful[1]))};
}
Expr* StencilKernel::of_thread(std::size_t axis) {
    const bool rows = plane_ && axis == 0;
    return times(copy(rows ? warp_ : lane_), rows ? tile_.rows : tile_.columns);
}

Body StencilKernel::kernel() {
    Body out, body;
    thread_ = b_.named(body, "thread", b_.reg(Register::kThreadX));
    lane_ = b_.named(body, "lane", b_.binary(Op::kRemainder, copy(thread_), small(kWarpSize)));
    warp_ = b_.named(body, "warp", b_.binary(Op::kQuotient, copy(thread_), small(kWarpSize)));
    Expr* tiles = plane_ ? mul(tiles_[0], tiles_[1]) : copy(tiles_[0]);
    if (!plane_) {
        Expr* block = mul(wide(b_.reg(Register::kBlockX)), tile_.warps);
        Expr* tile = b_.named(body, "tile", add(block, wide(copy(warp_))));
        body.push_back(b_.if_(less(tile, tiles), tile_body(tile)));
        return body;
    }
    std::int64_t carried = 0;
    for (const StencilArray& each : stencil_.arrays)
        carried += each.carried ? 1 : 0;
    staged_ = b_.local_array("staged", type_, {carried * tile_.rows * tile_.columns * threads_},
                             Space::kDynamic);
    if (alternates_edges(stencil_)) {
        turn_ = counter("turn");
        body.push_back(b_.assign(turn_, small(0)));
    }
    prefetch(wide(b_.reg(Register::kBlockX)), body);
    Var* tile = b_.scalar("tile", Scalar::kI64);
    For* loop = b_.loop(tile, wide(b_.reg(Register::kBlockX)), tiles, tile_body(b_.var(tile)),
                        wide(b_.reg(Register::kGridDimX)));
    body.push_back(loop);
    out.push_back(b_.alloc(staged_));
    out.insert(out.end(), allocated_.begin(), allocated_.end());
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

Body StencilKernel::tile_body(Expr* number_of) {
    Body out;
    at_ = corner(number_of, out);
    place_.clear();
    std::vector<Expr*> first;
    for (std::size_t k = 0; k < stencil_.rank; ++k) {
        first.push_back(b_.named(out, "first_place",
                                 add(at_[k], add(first_[k], -tile_.steps * stencil_.below[k]))));
        place_.push_back(b_.named(out, "place", add(first[k], wide(of_thread(k)))));
        at_[k] = b_.named(out, "at", add(at_[k], wide(of_thread(k))));
    }
    mark_regions(first, out);
    for (const StencilArray& each : stencil_.arrays) {
        own_[each.array] = b_.local_array(each.array->name + "_own", type_,
                                          {tile_.rows, tile_.columns}, Space::kLocal);
        out.push_back(b_.alloc(own_[each.array]));
    }
    load(out);
    if (plane_) {
        Expr* next = b_.named(out, "next", add(number_of, wide(b_.reg(Register::kGridDimX))));
        Body ahead;
        prefetch(next, ahead);
        out.push_back(b_.if_(less(next, mul(tiles_[0], tiles_[1])), std::move(ahead)));
    }
    Var* s = b_.scalar("step", Scalar::kI64);
    Expr* begin = time_;
    Body body;
    const For& time = *stencil_.time;
    Var* t = b_.module().make_like(*time.var);
    const bool used =
        any_expr(time.body, [&](const Expr& e) { return e.op == Op::kVar && e.var == time.var; });
    if (used) {
        Expr* now = add(add(begin, b_.var(past_)), b_.var(s));
        body.push_back(b_.assign(t, b_.convert(now, t->type.scalar)));
    }
    step_vars_.vars[time.var] = t;
    const Body of_step = step();
    body.insert(body.end(), of_step.begin(), of_step.end());
    out.push_back(b_.loop(s, number(0), b_.var(steps_), std::move(body)));
    store(out);
    return out;
}

// ---------------------------------------------------------------- the places that sweeps write

StencilKernel::Region& StencilKernel::region_of(const StencilSweep& sweep) {
    Region wanted;
    for (std::size_t k = 0; k < stencil_.rank; ++k)
        wanted.ranges.push_back(region(sweep, k));
    const auto found = std::ranges::find_if(regions_, [&](const Region& each) {
        return std::ranges::equal(each.ranges, wanted.ranges, [](const Range& a, const Range& b) {
            return same(*a.begin, *b.begin) && same(*a.end, *b.end);
        });
    });
    if (found != regions_.end()) return *found;
    return regions_.emplace_back(std::move(wanted));
}

// `first`: the place of the tile's first element.
void StencilKernel::mark_regions(const std::vector<Expr*>& first, Body& out) {
    for (const StencilSweep& s : stencil_.sweeps) {
        Region& of = region_of(s);
        if (of.covers != nullptr) continue;
        Expr* covers = nullptr;
        Expr* meets = nullptr;
        for (std::size_t k = 0; k < stencil_.rank; ++k) {
            const Range& own = of.ranges[k];
            Expr* end = add(first[k], tile_.all[k + 2 - stencil_.rank]);
            covers = both(covers, both(at_most(own.begin, first[k]), at_most(end, own.end)));
            if (s.is_line())
                meets = both(meets, both(less(own.begin, end), less(first[k], own.end)));
        }
        of.covers = b_.named(out, "covers", covers);
        if (meets != nullptr) of.meets = b_.named(out, "meets", meets);
        if (plane_) of.rows = mark("rows_in", place_[0], tile_.rows, of.ranges[0], out);
        of.columns = mark("columns_in", place_.back(), tile_.columns, of.ranges.back(), out);
    }
}

// A bit mask of the elements of a thread that are in the range.
Expr* StencilKernel::mark(const char* name, Expr* place, std::int64_t elements, const Range& range,
                          Body& out) {
    Var* marks = counter(name);
    Var* n = counter("n");
    Expr* at = add(place, wide(b_.var(n)));
    Expr* bit = b_.binary(Op::kShl, small(1), b_.var(n));
    out.push_back(b_.assign(marks, small(0)));
    Stmt* set = b_.assign(marks, b_.binary(Op::kBitOr, b_.var(marks), bit));
    Stmt* test = b_.if_(both(at_most(range.begin, at), less(at, range.end)), {set});
    out.push_back(b_.loop(n, small(0), small(elements), {test}));
    return b_.var(marks);
}

Expr* StencilKernel::marked(Expr* marks, Var* which) {
    Expr* bit = b_.binary(Op::kShl, small(1), b_.var(which));
    return b_.binary(Op::kNe, b_.binary(Op::kBitAnd, copy(marks), bit), small(0));
}

Expr* StencilKernel::is_written(const StencilSweep& sweep, Var* r, Var* c) {
    const Region& of = region_of(sweep);
    Expr* row = of.rows != nullptr ? marked(of.rows, r) : nullptr;
    return both(row, marked(of.columns, c));
}

// Loads the thread's own part of a tile while the previous tile is computed.
void StencilKernel::prefetch(Expr* number_of, Body& out) {
    std::vector<Expr*> at = corner(number_of, out);
    for (std::size_t k = 0; k < at.size(); ++k)
        at[k] = b_.named(out, "ahead", add(at[k], wide(of_thread(k))));
    std::int64_t base = 0;
    for (const StencilArray& each : stencil_.arrays) {
        if (!each.carried) continue;
        Var* r = counter("r");
        Var* g = counter("g");
        Expr* chunk = plus(times(b_.var(r), tile_.columns / vector_), b_.var(g));
        Expr* place = plus(times(plus(times(chunk, threads_), copy(thread_)), vector_), base);
        Store* copied = b_.store(
            staged_, {place},
            b_.load(states_.at(each.array), {b_.var(from_), add(at[0], wide(b_.var(r))),
                                             add(at[1], wide(times(b_.var(g), vector_)))}));
        copied->copied = vector_;
        out.push_back(
            unrolled(r, 0, tile_.rows, {unrolled(g, 0, tile_.columns / vector_, {copied})}));
        base += tile_.rows * tile_.columns * threads_;
    }
    out.push_back(b_.barrier(BarrierScope::kGroup));
}

void StencilKernel::load(Body& out) {
    if (plane_) out.push_back(b_.barrier(BarrierScope::kCopies));
    std::int64_t base = 0;
    for (const StencilArray& each : stencil_.arrays) {
        Var* own = own_.at(each.array);
        out.push_back(each_own([&](Var* r, Var* c) {
            Expr* value = nullptr;
            if (!each.carried) {
                value = b_.constant(Type::of(type_), {std::int64_t{0}});
            } else if (!plane_) {
                value = b_.load(states_.at(each.array), state_places(b_.var(from_), r, c));
            } else {
                Expr* column = b_.binary(Op::kQuotient, b_.var(c), small(vector_));
                Expr* chunk = plus(times(b_.var(r), tile_.columns / vector_), column);
                Expr* in_chunk = b_.binary(Op::kRemainder, b_.var(c), small(vector_));
                Expr* place = plus(times(plus(times(chunk, threads_), copy(thread_)), vector_),
                                   plus(in_chunk, base));
                value = b_.load(staged_, {place});
            }
            return Body{b_.store(own, {b_.var(r), b_.var(c)}, value)};
        }));
        if (each.carried) base += tile_.rows * tile_.columns * threads_;
    }
    if (plane_) out.push_back(b_.barrier(BarrierScope::kWarp));
}

void StencilKernel::store(Body& out) {
    // The first correct element of the tile, and their number.
    const auto useful = [&](std::size_t axis, Var* var) {
        const std::int64_t low = tile_.steps * stencil_.below[axis];
        Expr* at = plus(of_thread(axis), b_.var(var));
        Expr* from = b_.binary(Op::kLe, small(low), copy(at));
        const std::int64_t end = low + tile_.useful[axis + 2 - stencil_.rank];
        return both(from, b_.binary(Op::kLt, at, small(end)));
    };
    Expr* to = b_.named(out, "to", sub(number(1), b_.var(from_)));
    for (const StencilArray& each : stencil_.arrays) {
        if (!each.carried) continue;
        Var* r = counter("r");
        Var* c = counter("c");
        Stmt* stored = b_.store(states_.at(each.array), state_places(copy(to), r, c),
                                b_.load(own_.at(each.array), {b_.var(r), b_.var(c)}));
        stored = b_.if_(useful(stencil_.rank - 1, c), {stored});
        stored = unrolled(c, 0, tile_.columns, {stored});
        if (plane_) stored = b_.if_(useful(0, r), {stored});
        out.push_back(unrolled(r, 0, tile_.rows, {stored}));
    }
}

}  // namespace parpy
