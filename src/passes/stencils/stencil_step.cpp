// The sweeps of a step over the elements that threads hold. See stencil_kernel.h.
#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/visit.h"
#include "passes/stencils/stencil_kernel.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kAllLanes = 0xffffffff;

}  // namespace

Body StencilKernel::step() {
    Body out;
    for (const Stencil::Item& item : stencil_.items) {
        if (item.assign == nullptr) {
            sweep(stencil_.sweeps[static_cast<std::size_t>(item.sweep)], out);
            continue;
        }
        // The operand may be the previous value of the variable.
        Substitution before = step_vars_;
        if (!step_vars_.vars.contains(item.assign->var))
            step_vars_.vars[item.assign->var] = b_.module().make_like(*item.assign->var);
        Assign* made = b_.module().copy(*item.assign);
        made->var = step_vars_.vars.at(item.assign->var);
        made->value = clone(b_.module(), item.assign->value, before);
        out.push_back(made);
    }
    return out;
}

std::vector<StencilKernel::Window> StencilKernel::windows(const StencilSweep& s) {
    std::vector<Window> result;
    for (const StencilLoad& load : s.loads) {
        if (load.is_own()) continue;
        auto found = std::ranges::find(result, load.load->var, &Window::array);
        if (found == result.end()) {
            result.push_back({load.load->var});
            found = result.end() - 1;
        }
        const std::int64_t row = plane_ ? load.offsets[0] : 0, column = load.offsets.back();
        found->up = std::max(found->up, -row);
        found->down = std::max(found->down, row);
        if (column == 0) continue;
        const bool first = found->left + found->right == 0;
        found->left = std::max(found->left, -column);
        found->right = std::max(found->right, column);
        found->first_row = first ? row : std::min(found->first_row, row);
        found->last_row = first ? row : std::max(found->last_row, row);
    }
    return result;
}

// Exchanges rows with the warps above and below. Edges are laid out by columns, which avoids bank
// conflicts of lanes.
void StencilKernel::exchange(const std::vector<Window>& all, Body& out) {
    Body stores, loads;
    for (const Window& w : all) {
        if (w.up + w.down == 0) continue;
        Var* edges = b_.local_array(
            "edges", type_,
            {turn_ != nullptr ? 2 : 1, tile_.warps, w.up + w.down, tile_.columns, kWarpSize},
            Space::kShared);
        allocated_.push_back(b_.alloc(edges));
        Var* own = own_.at(w.array);
        const auto turn = [&] { return turn_ != nullptr ? b_.var(turn_) : small(0); };
        const auto store = [&](std::int64_t first_edge, std::int64_t first_row, std::int64_t n) {
            if (n == 0) return;
            Var* q = counter("q");
            Var* c = counter("c");
            Stmt* stored = b_.store(
                edges, {turn(), copy(warp_), plus(b_.var(q), first_edge), b_.var(c), copy(lane_)},
                b_.load(own, {plus(b_.var(q), first_row), b_.var(c)}));
            stores.push_back(unrolled(q, 0, n, {unrolled(c, 0, tile_.columns, {stored})}));
        };
        // First come the rows that the warp above reads, then those that the warp below reads.
        store(0, 0, w.down);
        store(w.down, tile_.rows - w.up, w.up);
        const auto load = [&](Expr* warp, std::int64_t first_edge, std::int64_t first_row,
                              std::int64_t n) {
            if (n == 0) return;
            Var* q = counter("q");
            Var* c = counter("c");
            Expr* value =
                b_.load(edges, {turn(), warp, plus(b_.var(q), first_edge), b_.var(c), copy(lane_)});
            Stmt* stored =
                b_.store(w.elements, {plus(b_.var(q), first_row), plus(b_.var(c), w.left)}, value);
            loads.push_back(unrolled(q, 0, n, {unrolled(c, 0, tile_.columns, {stored})}));
        };
        Expr* above = small_.greatest(plus(copy(warp_), -1), small(0));
        Expr* below = small_.least(plus(copy(warp_), 1), small(tile_.warps - 1));
        load(above, w.down, 0, w.up);
        load(below, 0, w.up + tile_.rows, w.down);
    }
    if (stores.empty()) return;
    out.insert(out.end(), stores.begin(), stores.end());
    out.push_back(b_.barrier(BarrierScope::kBlock));
    out.insert(out.end(), loads.begin(), loads.end());
    if (turn_ != nullptr) out.push_back(b_.assign(turn_, small_.subtract(small(1), b_.var(turn_))));
}

// Reads elements of neighbouring lanes, in a row of the window.
Body StencilKernel::shuffle(const Window& w, Expr* row) {
    Body body;
    Expr* at = plus(row, w.up);
    const auto get = [&](Op op, std::int64_t to, std::int64_t from) {
        Expr* mask = b_.integer(kAllLanes, Scalar::kU32);
        Expr* value = b_.make(
            op, {b_.load(w.elements, {copy(at), small(from)}), mask, small(1), small(kWarpSize)});
        body.push_back(b_.store(w.elements, {copy(at), small(to)}, value));
    };
    for (std::int64_t q = 0; q < w.left; ++q)
        get(Op::kShflUp, q, tile_.columns + q);
    for (std::int64_t q = 0; q < w.right; ++q)
        get(Op::kShflDown, w.left + tile_.columns + q, w.left + q);
    return body;
}

void StencilKernel::sweep(const StencilSweep& s, Body& around) {
    Body out;
    std::vector<Window> all = windows(s);
    for (Window& w : all) {
        w.elements = b_.local_array(w.array->name + "_around", type_,
                                    {w.up + tile_.rows + w.down, w.left + tile_.columns + w.right},
                                    Space::kLocal);
        out.push_back(b_.alloc(w.elements));
        Var* r = counter("r");
        Var* c = counter("c");
        Stmt* stored = b_.store(w.elements, {plus(b_.var(r), w.up), plus(b_.var(c), w.left)},
                                b_.load(own_.at(w.array), {b_.var(r), b_.var(c)}));
        out.push_back(unrolled(r, 0, tile_.rows, {unrolled(c, 0, tile_.columns, {stored})}));
    }
    exchange(all, out);
    Var* r = counter("r");
    Var* c = counter("c");
    Body of_row;
    for (const Window& w : all) {
        if (w.left + w.right == 0) continue;
        for (std::int64_t row = w.first_row; row < w.last_row; ++row) {
            const Body beside = shuffle(w, small(row));
            out.insert(out.end(), beside.begin(), beside.end());
        }
        const Body beside = shuffle(w, plus(b_.var(r), w.last_row));
        of_row.insert(of_row.end(), beside.begin(), beside.end());
    }
    of_row.push_back(unrolled(c, 0, tile_.columns, cell(s, all, r, c)));
    out.push_back(unrolled(r, 0, tile_.rows, std::move(of_row)));
    restore(s, out);
    // A sweep along a line writes nothing in most tiles.
    if (Expr* meets = region_of(s).meets; meets != nullptr)
        out = {b_.if_(copy(meets), std::move(out))};
    around.insert(around.end(), out.begin(), out.end());
}

Body StencilKernel::cell(const StencilSweep& s, const std::vector<Window>& all, Var* r, Var* c) {
    Body body = clone(b_.module(), *s.body);
    const auto own = [&](const Var* array) {
        return b_.load(own_.at(array), {b_.var(r), b_.var(c)});
    };
    const auto offset = [&](const Expr& load, std::size_t k) {
        const StencilSweep::Axis& axis = s.axes[k];
        const Expr& index = *load.operands[k];
        return (axis.loop != nullptr ? *constant_offset(index, *axis.loop->var)
                                     : *constant_integer(&index)) -
               axis.shift;
    };
    rewrite(body, [&](Expr* e) -> Expr* {
        if (e->op != Op::kLoad || !stencil_.changes(e->var)) return e;
        const std::int64_t row = plane_ ? offset(*e, 0) : 0, column = offset(*e, s.axes.size() - 1);
        if (row == 0 && column == 0) return own(e->var);
        const Window& w = *std::ranges::find(all, e->var, &Window::array);
        return b_.load(w.elements, {plus(b_.var(r), row + w.up), plus(b_.var(c), column + w.left)});
    });
    Substitution here = step_vars_;
    const std::vector<Expr*> at = places(r, c);
    for (std::size_t k = 0; k < s.axes.size(); ++k) {
        const StencilSweep::Axis& axis = s.axes[k];
        if (axis.loop == nullptr) continue;
        here.values[axis.loop->var] =
            b_.convert(add(at[k], -axis.shift), axis.loop->var->type.scalar);
    }
    for (const Stmt* stmt : *s.body) {
        if (const auto* assign = stmt->as<Assign>(); assign != nullptr)
            here.vars.try_emplace(assign->var, b_.module().make_like(*assign->var));
    }
    Body out;
    for (Stmt* stmt : body) {
        auto* store = stmt->as<Store>();
        if (store == nullptr) {
            out.push_back(clone(b_.module(), stmt, here));
            continue;
        }
        Expr* value = clone(b_.module(), store->value, here);
        if (store->update) value = b_.updated(own(store->array), *store->update, value);
        if (!restores(s) && !s.loads_others)
            value = b_.select(is_written(s, r, c), value, own(store->array));
        out.push_back(b_.store(own_.at(store->array), {b_.var(r), b_.var(c)}, value));
    }
    if (!s.loads_others) return out;
    return {b_.if_(is_written(s, r, c), std::move(out))};
}

// The sweep is computed everywhere, and elements that it does not write get their value back.
bool StencilKernel::restores(const StencilSweep& s) const {
    return !s.loads_others && std::ranges::all_of(s.stored, [&](const Var* array) {
        return stencil_.of(array).sweeps == 1;
    });
}

// Restores rows and columns that the sweep does not write, in the tiles that have some.
void StencilKernel::restore(const StencilSweep& s, Body& out) {
    Var* r = counter("r");
    Var* c = counter("c");
    const Region& of_sweep = region_of(s);
    Body body;
    for (Var* array : s.stored) {
        const StencilArray& of = stencil_.of(array);
        if (of.sweeps > 1) continue;
        Var* value = b_.scalar("value", type_);
        Expr* before = nullptr;
        Expr* exists = nullptr;
        if (of.carried) {
            before = b_.load(states_.at(array), state_places(b_.var(from_), r, c));
        } else {
            // Beyond the places that sweeps load any element will do.
            std::vector<Expr*> at = places(r, c);
            for (std::size_t k = 0; k < at.size(); ++k) {
                const Range range = loaded(*array, k);
                at[k] = math_.least(math_.greatest(at[k], range.begin),
                                    math_.add(range.end, number(-1)));
                if (!array->dims[k].extent)
                    exists = both(exists, less(number(0), b_.extent(array->dims[k])));
            }
            before = b_.load(array, at);
        }
        Expr* now = b_.load(own_.at(array), {b_.var(r), b_.var(c)});
        Body back = {b_.assign(value, before),
                     b_.store(own_.at(array), {b_.var(r), b_.var(c)},
                              b_.select(is_written(s, r, c), now, b_.var(value)))};
        if (exists != nullptr) back = {b_.if_(exists, std::move(back))};
        body.insert(body.end(), back.begin(), back.end());
    }
    if (body.empty()) return;
    Expr* whole = b_.binary(Op::kEq, copy(of_sweep.columns), small((1 << tile_.columns) - 1));
    if (of_sweep.rows != nullptr) whole = both(marked(of_sweep.rows, r), whole);
    Stmt* row = b_.if_(b_.not_(whole), {unrolled(c, 0, tile_.columns, std::move(body))});
    out.push_back(b_.if_(b_.not_(copy(of_sweep.covers)), {unrolled(r, 0, tile_.rows, {row})}));
}

}  // namespace parpy
