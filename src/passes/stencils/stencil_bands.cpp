// See stencil_bands.h.
#include "passes/stencils/stencil_bands.h"

#include <algorithm>
#include <ranges>

#include "analysis/integers/index_math.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/stencils/stencil_tile.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kCacheBytes = 2 << 20;  // of a worker, that a band may use
constexpr double kResidentBytes = 8e6;   // of arrays that no step loads from memory
constexpr double kLineBytes = 16 << 10;  // of a block of arrays with one dimension
constexpr std::int64_t kMostSteps = 16, kMostLineSteps = 256;
constexpr std::int64_t kMostBands = 32;  // beyond which more workers do not help
constexpr std::int64_t kWorkers = 8;     // of a typical machine, whichever this is
constexpr double kFewestSteps = 8;       // that pay
constexpr double kShortLine = 8192;      // elements

bool stores(const StencilSweep& s, const Var* array) {
    return std::ranges::find(s.stored, array) != s.stored.end();
}

// The distance, in rows, that `later` must keep behind `earlier`, which may be a sweep of the step
// before, at one end: the offsets count downwards there (`sign` -1) or upwards.
std::int64_t distance(const StencilSweep& earlier, const StencilSweep& later, int sign) {
    std::int64_t result = 0;
    for (const StencilLoad& load : later.loads) {
        if (stores(earlier, load.load->var)) result = std::max(result, sign * load.offsets[0]);
    }
    for (const StencilLoad& load : earlier.loads) {
        if (stores(later, load.load->var)) result = std::max(result, -sign * load.offsets[0]);
    }
    return result;
}

StencilSlope slope(const Stencil& stencil, int sign) {
    StencilSlope result;
    const std::vector<StencilSweep>& sweeps = stencil.sweeps;
    for (std::size_t s = 0; s < sweeps.size(); ++s) {
        std::int64_t rows = s == 0 ? 0 : result.rows.back();
        for (std::size_t e = 0; e < s; ++e)
            rows = std::max(rows, result.rows[e] + distance(sweeps[e], sweeps[s], sign));
        result.rows.push_back(rows);
    }
    result.step = result.rows.back();
    for (std::size_t s = 0; s < sweeps.size(); ++s) {
        for (std::size_t e = 0; e < sweeps.size(); ++e) {
            const std::int64_t apart = distance(sweeps[e], sweeps[s], sign);
            result.step = std::max(result.step, result.rows[e] + apart - result.rows[s]);
        }
    }
    return result;
}

class BandCode {
public:
    BandCode(Module& module, const Stencil& stencil, const StencilBands& bands)
        : b_(module, stencil.time->span),
          math_(b_, Scalar::kI64),
          stencil_(stencil),
          bands_(bands),
          lower_(lower_slope(stencil)),
          upper_(upper_slope(stencil)) {}

    Body run() {
        Body out;
        const For& time = *stencil_.time;
        Expr* begin = b_.named(out, "begin", wide(copy(time.begin)));
        Expr* end = b_.named(out, "end", wide(copy(time.end)));
        Expr* first = nullptr;
        Expr* last = nullptr;
        for (const StencilSweep& s : stencil_.sweeps) {
            const auto [from, to] = region(s);
            first = first == nullptr ? copy(from) : math_.least(first, copy(from));
            last = last == nullptr ? copy(to) : math_.greatest(last, copy(to));
        }
        first_row_ = b_.named(out, "first_row", first);
        end_row_ = b_.named(out, "end_row", last);
        // The last band also has the remaining rows.
        Expr* whole =
            math_.divide(math_.subtract(copy(end_row_), copy(first_row_)), number(bands_.rows));
        count_ = b_.named(out, "bands", math_.greatest(whole, number(1)));

        first_step_ = b_.scalar("first_step", Scalar::kI64);
        steps_ = b_.scalar("steps", Scalar::kI64);
        Expr* left = math_.subtract(copy(end), b_.var(first_step_));
        Body body = {b_.assign(steps_, math_.least(left, number(bands_.steps))), on_workers(false)};
        if (constant_integer(count_) != 1) body.push_back(on_workers(true));
        out.push_back(b_.loop(first_step_, begin, end, std::move(body), number(bands_.steps)));
        return out;
    }

private:
    struct Range {
        Expr* from = nullptr;
        Expr* to = nullptr;
    };

    Expr* number(std::int64_t value) { return b_.integer(value); }
    Expr* copy(const Expr* e) { return clone(b_.module(), e); }
    Expr* wide(Expr* e) { return b_.convert(e, Scalar::kI64); }

    // The rows that a sweep writes.
    Range region(const StencilSweep& s) {
        const StencilSweep::Axis& axis = s.axes[0];
        if (axis.loop == nullptr) return {number(axis.shift), number(axis.shift + 1)};
        return {math_.add(bound(axis, true), number(axis.shift)),
                math_.add(bound(axis, false), number(axis.shift))};
    }

    // The bound of the loop's variable.
    Expr* bound(const StencilSweep::Axis& axis, bool first) {
        const auto& part = first ? axis.begin : axis.end;
        if (part) return number(*part);
        return wide(copy(first ? axis.loop->begin : axis.loop->end));
    }

    Stmt* on_workers(bool gaps) {
        Var* which = b_.scalar(gaps ? "gap" : "band", Scalar::kI64);
        Body body;
        // The row at the lower end of the band, or in the middle of the gap.
        Expr* number_of = gaps ? math_.add(b_.var(which), number(1)) : b_.var(which);
        Expr* row =
            b_.named(body, "row",
                     math_.add(copy(first_row_), math_.multiply(number_of, number(bands_.rows))));
        if (gaps) {
            steps(body, [&](std::size_t s, Expr* step) {
                return Range{math_.subtract(copy(row), reach(upper_, s, step)),
                             math_.add(copy(row), reach(lower_, s, copy(step)))};
            });
        } else {
            band(b_.var(which), row, body);
        }
        Expr* trips = gaps ? math_.subtract(copy(count_), number(1)) : copy(count_);
        For* loop = b_.loop(which, number(0), trips, std::move(body));
        loop->mapping.threads = 1024;
        loop->mapping.level = Level::kWorkers;
        return loop;
    }

    void band(Expr* number_of, Expr* row, Body& out) {
        Expr* next = b_.named(out, "next_row", math_.add(copy(row), number(bands_.rows)));
        Var* from = b_.scalar("from", Scalar::kI64);
        Var* to = b_.scalar("to", Scalar::kI64);
        Var* keeps_lower = b_.scalar("keeps_lower", Scalar::kI64);
        Var* keeps_upper = b_.scalar("keeps_upper", Scalar::kI64);
        // No rows are lost at the ends of the array.
        Expr* is_last =
            b_.binary(Op::kEq, copy(number_of), math_.subtract(copy(count_), number(1)));
        Expr* is_first = b_.binary(Op::kEq, copy(number_of), number(0));
        out.push_back(b_.assign(keeps_lower, b_.select(is_first, number(0), number(1))));
        out.push_back(b_.assign(keeps_upper, b_.select(is_last, number(0), number(1))));
        out.push_back(b_.assign(from, row));
        out.push_back(b_.assign(to, b_.select(copy(is_last), copy(end_row_), copy(next))));

        Var* at = b_.scalar("at", Scalar::kI64);
        Body body;
        steps(body, [&](std::size_t s, Expr* step) {
            Expr* upper = reach(upper_, s, step);
            Expr* begin = math_.add(
                b_.var(from), math_.multiply(b_.var(keeps_lower), reach(lower_, s, copy(step))));
            Expr* end =
                math_.subtract(b_.var(to), math_.multiply(b_.var(keeps_upper), copy(upper)));
            Expr* block = math_.subtract(b_.var(at), upper);
            return Range{math_.greatest(begin, copy(block)),
                         math_.least(end, math_.add(block, number(bands_.block)))};
        });
        // The last block is so far up that its last sweep ends at the end of the band.
        const std::int64_t beyond = (bands_.steps - 1) * upper_.step + upper_.rows.back();
        out.push_back(b_.loop(at, b_.var(from), math_.add(b_.var(to), number(beyond)),
                              std::move(body), number(bands_.block)));
    }

    Expr* reach(const StencilSlope& slope, std::size_t s, Expr* step) {
        return math_.add(math_.multiply(step, number(slope.step)), number(slope.rows[s]));
    }

    // The sweeps of all steps, over the rows rows(sweep, step).
    template <class F>
    void steps(Body& out, F&& rows) {
        Var* step = b_.scalar("step", Scalar::kI64);
        Body body;
        Substitution here;
        const For& time = *stencil_.time;
        const bool used = any_expr(
            time.body, [&](const Expr& e) { return e.op == Op::kVar && e.var == time.var; });
        Var* t = here.vars[time.var] = b_.module().make_like(*time.var);
        if (used) {
            Expr* now = b_.binary(Op::kAdd, b_.var(first_step_), b_.var(step));
            body.push_back(b_.assign(t, b_.convert(now, t->type.scalar)));
        }
        for (const Stencil::Item& item : stencil_.items) {
            if (item.assign != nullptr) {
                here.vars.try_emplace(item.assign->var, b_.module().make_like(*item.assign->var));
                body.push_back(clone(b_.module(), item.assign, here));
                continue;
            }
            const auto s = static_cast<std::size_t>(item.sweep);
            body.push_back(sweep(stencil_.sweeps[s], rows(s, b_.var(step)), here));
        }
        out.push_back(b_.loop(step, number(0), b_.var(steps_), std::move(body)));
    }

    // The original nest, over some of its rows, by one worker.
    Stmt* sweep(const StencilSweep& s, Range rows, const Substitution& around) {
        Substitution here = around;
        for (const For* loop : s.loops)
            here.vars[loop->var] = b_.module().make_like(*loop->var);
        for (const Stmt* stmt : *s.body) {
            if (const auto* assign = stmt->as<Assign>())
                here.vars.try_emplace(assign->var, b_.module().make_like(*assign->var));
        }
        Body body = clone(b_.module(), *s.body, here);
        for (const For* loop : s.loops | std::views::reverse) {
            const auto axis = std::ranges::find(s.axes, loop, &StencilSweep::Axis::loop);
            Expr* begin = bound(*axis, true);
            Expr* end = bound(*axis, false);
            if (axis == s.axes.begin()) {
                begin = math_.greatest(begin, math_.add(rows.from, number(-axis->shift)));
                end = math_.least(end, math_.add(rows.to, number(-axis->shift)));
            }
            const Scalar type = loop->var->type.scalar;
            For* made = b_.loop(here.vars.at(loop->var), b_.convert(begin, type),
                                b_.convert(end, type), std::move(body));
            made->span = loop->span;
            made->labels = loop->labels;
            if (loop == s.loops.back()) {
                made->mapping.threads = 1024;
                made->mapping.level = Level::kVector;
            }
            body = {made};
        }
        const StencilSweep::Axis& first = s.axes.front();
        if (first.loop != nullptr) return body.front();
        Expr* inside = b_.binary(Op::kAnd, b_.binary(Op::kLe, rows.from, number(first.shift)),
                                 b_.binary(Op::kLt, number(first.shift), rows.to));
        return b_.if_(inside, std::move(body));
    }

    Builder b_;
    IndexMath math_;
    const Stencil& stencil_;
    const StencilBands bands_;
    const StencilSlope lower_, upper_;
    Expr* first_row_ = nullptr;  // the first row that some sweep writes
    Expr* end_row_ = nullptr;
    Expr* count_ = nullptr;      // of bands
    Var* first_step_ = nullptr;  // of those that are computed together
    Var* steps_ = nullptr;       // the number of these
};

}  // namespace

StencilSlope lower_slope(const Stencil& stencil) {
    return slope(stencil, -1);
}
StencilSlope upper_slope(const Stencil& stencil) {
    return slope(stencil, 1);
}

std::optional<StencilBands> plan_stencil_bands(const Stencil& stencil, const Traffic& traffic,
                                               bool always, std::string& reason) {
    const std::vector<double> extents = stencil_extents(stencil, traffic);
    double row_bytes = 0;  // of all arrays
    for (const StencilArray& each : stencil.arrays)
        row_bytes += static_cast<double>(size_in_bytes(each.array->type.scalar));
    for (std::size_t k = 1; k < extents.size(); ++k)
        row_bytes *= extents[k];
    const bool line = stencil.rank == 1;
    const std::int64_t per_step = lower_slope(stencil).step + upper_slope(stencil).step;
    if (!always && line && extents[0] < kShortLine) {
        reason = "its arrays are too short";
        return std::nullopt;
    }
    if (!always && !line && extents[0] * row_bytes < kResidentBytes) {
        reason = "its arrays stay in the cache";
        return std::nullopt;
    }
    const double trips = traffic.trips(*stencil.time);
    if (!always && trips < kFewestSteps) {
        reason = "it has too few steps";
        return std::nullopt;
    }
    StencilBands result;
    const double held = line ? kLineBytes * 2 : kCacheBytes;
    // Rows of a block, and the distance between its sweeps.
    const auto fit = static_cast<std::int64_t>(held / row_bytes);
    result.block = std::max<std::int64_t>(1, line ? fit / 2 : std::min<std::int64_t>(8, fit / 4));
    const std::int64_t upper = std::max<std::int64_t>(1, upper_slope(stencil).step);
    result.steps = std::min((fit - result.block) / upper, line ? kMostLineSteps : kMostSteps);
    // Bands are a few times as large as the rows that they lose. Those of a line are short, so that
    // each worker has one.
    const auto rows = static_cast<std::int64_t>(extents[0]);
    const std::int64_t least_bands = line ? kWorkers : 2;
    const std::int64_t most = rows / least_bands / 2 / std::max<std::int64_t>(1, per_step) - 1;
    result.steps = std::max<std::int64_t>(1, std::min(result.steps, most));
    if (trips < static_cast<double>(result.steps))
        result.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(trips));
    // Sweeps may read no other rows than their own.
    const std::int64_t shortest =
        std::max<std::int64_t>(1, 2 * per_step * result.steps + 2 * per_step);
    const std::int64_t bands = std::clamp<std::int64_t>(rows / shortest, 1, kMostBands);
    result.rows = std::max(shortest, rows / bands);  // all bands are of one size
    if (!always && result.steps < 2) {
        reason = "the cache holds too few of its rows";
        return std::nullopt;
    }
    return result;
}

Body band_code(Module& module, const Stencil& stencil, const StencilBands& bands) {
    return BandCode(module, stencil, bands).run();
}

}  // namespace parpy
