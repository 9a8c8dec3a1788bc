// See split_scans.h.
#include "passes/scans/split_scans.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/mapped/partial_values.h"
#include "passes/nests/own_arrays.h"
#include "passes/scans/scan.h"
#include "passes/wanted.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.9;  // of the time before

struct Sizes {
    std::int64_t length;  // the iterations of a block
    std::int64_t fewest;  // iterations of a loop that is split
};
// A thread of a GPU runs a block, and reads two cache lines of f64.
constexpr Sizes kSizes = {32, 128};
constexpr Sizes kSmall = {4, 6};
// Each is three launches, and divides the number of iterations by the length of a block.
constexpr int kMostLevels = 3;
// A bound of the number of iterations, at most, that decides about the size of memory.
constexpr std::int64_t kMostBound = std::int64_t{1} << 24;

// PARPY_SCANS: 0 disables the pass, 2 splits every loop that can be split, into small blocks.
Wanted wanted() {
    return wanted_by("PARPY_SCANS");
}

class Splitting {
public:
    explicit Splitting(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic) {}

    void run() {
        if (wanted_ != Wanted::kNever) body(entry_.body);
    }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            // The loop that finds the starts of the blocks is a scan, too.
            for (int level = 0; loop != nullptr && level < kMostLevels && split(stmts, i);)
                ++level;
            const bool repeats = loop != nullptr || stmts[i]->kind == StmtKind::kWhile;
            for_each_body(*stmts[i], [&](Body& inner) {
                if (loop != nullptr) around_.push_back(loop);
                depth_ += repeats ? 1 : 0;
                body(inner);
                depth_ -= repeats ? 1 : 0;
                if (loop != nullptr) around_.pop_back();
            });
        }
    }

    // Splits the loop at `place`, which is that of the starts afterwards.
    bool split(Body& stmts, std::size_t& place) {
        For& loop = *stmts[place]->as<For>();
        // An element in the bound would be on the GPU, and the sizes of memory are numbers of the
        // host.
        if (!constant_integer(loop.begin) || !uses_of(*loop.end).loaded.empty()) return false;
        const auto iterations = most_iterations(loop);
        // The memory of other loops would have another size each time that they run.
        if ((!iterations && depth_ > 0) || (iterations && *iterations < sizes_.fewest))
            return false;
        const Body before(stmts.begin(), stmts.begin() + static_cast<std::ptrdiff_t>(place));
        const auto scan = scan_of(module_, loop, before, deterministic_);
        if (!scan || is_in_parallel() || passes_on_more(*scan)) return false;
        const Body made = blocks_of(*scan, iterations);
        const double factor =
            wanted_ == Wanted::kAlways ? std::numeric_limits<double>::infinity() : kWorthwhile;
        if (!replace_if_faster(stmts, place, made, factor, entry_, deterministic_, plan_cuda))
            return false;
        if (iterations) hoist_allocations(entry_, stmts, place);
        const auto starts = std::ranges::find(stmts, static_cast<Stmt*>(starts_));
        place = static_cast<std::size_t>(starts - stmts.begin());
        return true;
    }

    // The number of iterations if it is known before the call. Inside of a loop also a bound of it.
    std::optional<std::int64_t> most_iterations(const For& loop) const {
        if (const auto trips = constant_trip_count(loop)) return *trips;
        if (depth_ == 0) return std::nullopt;
        const Intervals ranges(entry_);
        const Interval end = ranges.of(loop.end);
        if (end.empty() || end.high > kMostBound) return std::nullopt;
        return end.high - *constant_integer(loop.begin);
    }

    bool is_in_parallel() const {
        if (around_.empty()) return false;
        ParallelLoops loops(entry_, deterministic_);
        return std::ranges::any_of(around_, [&](For* loop) { return loops.legal(*loop); });
    }

    // Whether the last iteration gives values to other scalars.
    bool passes_on_more(const Scan& scan) const {
        const Liveness liveness(entry_);
        const VarSet& live = liveness.after(scan.loop);
        const VarSet exposed = exposed_reads(scan.loop->body);
        VarSet written = uses_of(scan.loop->body).written;
        written.insert(scan.loop->var);
        return std::ranges::any_of(
            written, [&](const Var* var) { return live.contains(var) && !exposed.contains(var); });
    }

    Body blocks_of(const Scan& scan, std::optional<std::int64_t> iterations) {
        Builder b(module_, scan.loop->span);
        const Liveness liveness(entry_);
        Body made, sums, starts, values, ends, last, after;
        const Dim blocks = number_of_blocks(*scan.loop, iterations, made);
        Substitution partial, own;
        Var* first = block_of(*scan.loop);
        Var* second = block_of(*scan.loop);
        Var* third = block_of(*scan.loop);
        for (const auto& [var, op] : scan.carried) {
            const Scalar type = var->type.scalar;
            Var* parts = one_for_each(blocks, var->name + "_parts", type);
            Var* before = one_for_each(blocks, var->name + "_starts", type);
            made.push_back(b.alloc(parts));
            made.push_back(b.alloc(before));
            Var* part = partial.vars[var] = b.scalar(var->name + "_part", type);
            Var* value = own.vars[var] = b.scalar(var->name + "_value", type);
            sums.push_back(b.assign(part, identity(b, op, type)));
            ends.push_back(b.store(parts, {b.var(first)}, b.var(part)));
            starts.push_back(b.store(before, {b.var(second)}, b.var(var)));
            starts.push_back(b.update(var, op, b.load(parts, {b.var(second)})));
            values.push_back(b.assign(value, b.load(before, {b.var(third)})));
            // The value after the loop has the bits of the last block's.
            if (is_float(type) && liveness.after(scan.loop).contains(var)) {
                last.push_back(b.store(before, {b.var(third)}, b.var(value)));
                Expr* end = blocks.extent ? b.integer(*blocks.extent - 1)
                                          : b.binary(Op::kSub, b.extent(blocks), b.integer(1));
                after.push_back(b.assign(var, b.load(before, {end})));
            }
        }
        sums.push_back(block(*scan.loop, first, scan.updates, partial));
        sums.insert(sums.end(), ends.begin(), ends.end());
        values.push_back(block(*scan.loop, third, scan.loop->body, own));
        values.insert(values.end(), last.begin(), last.end());
        made.push_back(b.loop(first, b.integer(0), b.extent(blocks), std::move(sums)));
        starts_ = b.loop(second, b.integer(0), b.extent(blocks), std::move(starts));
        made.push_back(starts_);
        For* all = b.loop(third, b.integer(0), b.extent(blocks), std::move(values));
        all->disjoint = scan.disjoint;
        made.push_back(all);
        if (blocks.extent) {
            made.insert(made.end(), after.begin(), after.end());
        } else if (!after.empty()) {
            Expr* any = b.binary(Op::kGt, b.extent(blocks), b.integer(0));
            made.push_back(b.if_(any, std::move(after)));
        }
        return made;
    }

    // A constant, or a variable that `made` computes.
    Dim number_of_blocks(const For& loop, std::optional<std::int64_t> iterations, Body& made) {
        const std::int64_t more = sizes_.length - 1;
        if (iterations) return {.extent = (*iterations + more) / sizes_.length, .stride = 1};
        Builder b(module_, loop.span);
        Var* count = b.scalar(loop.var->name + "_blocks", Scalar::kI64);
        Expr* past = b.binary(Op::kAdd, b.convert(clone(module_, loop.end), Scalar::kI64),
                              b.integer(more - *constant_integer(loop.begin)));
        Expr* whole = b.binary(Op::kFloorDiv, past, b.integer(sizes_.length));
        made.push_back(b.assign(count, b.binary(Op::kMax, whole, b.integer(0))));
        return {.stride = 1, .extent_var = count};
    }

    Var* one_for_each(const Dim& blocks, std::string name, Scalar type) {
        Var* array = Builder(module_).local_array(std::move(name), type, {1}, Space::kScratch);
        array->dims = {blocks};
        return array;
    }

    Var* block_of(const For& loop) {
        return Builder(module_, loop.span).scalar(loop.var->name + "_block", Scalar::kI64);
    }

    // The iterations of the block, with a copy of `stmts`.
    For* block(const For& loop, Var* number, const Body& stmts, Substitution own) {
        Builder b(module_, loop.span);
        const Scalar type = loop.var->type.scalar;
        const std::int64_t begin = *constant_integer(loop.begin);
        const auto at = [&](std::int64_t more) {
            Expr* value = b.binary(Op::kMul, b.var(number), b.integer(sizes_.length));
            return more == 0 ? value : b.binary(Op::kAdd, value, b.integer(more));
        };
        Var* var = own.vars[loop.var] = module_.make_like(*loop.var);
        Expr* end = b.binary(Op::kMin, at(begin + sizes_.length),
                             b.convert(clone(module_, loop.end), Scalar::kI64));
        return b.loop(var, b.convert(at(begin), type), b.convert(end, type),
                      clone(module_, stmts, own));
    }

    Module& module_;
    Function& entry_;
    const bool deterministic_;
    const Wanted wanted_ = wanted();
    const Sizes sizes_ = wanted_ == Wanted::kAlways ? kSmall : kSizes;
    std::vector<For*> around_;
    int depth_ = 0;          // of loops around, those of `while` included
    For* starts_ = nullptr;  // the loop of the last split that finds the starts
};

}  // namespace

void split_scans(PassContext& context) {
    Splitting(context).run();
}

}  // namespace parpy
