// See collapse_loops.h.
#include "passes/nests/collapse_loops.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/contract_loops.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.75;  // of the time before
// If there are fewer iterations, the launch of the kernel takes most of the time.
constexpr double kFewestForLanes = 1 << 17;
constexpr std::int64_t kMostIterations = std::int64_t{1} << 31;

// Whether the cost model is worth running: trip counts of the two loops, and whether the inner one
// contains loops or walks element by element.
using Candidate = bool (*)(std::int64_t outer, std::int64_t inner, double iterations, bool vector);

bool leaves_cores_idle(std::int64_t outer, std::int64_t, double, bool vector) {
    constexpr std::int64_t kEnough = 16;
    return outer < kEnough && !vector;
}

bool leaves_lanes_idle(std::int64_t outer, std::int64_t inner, double iterations, bool) {
    const std::int64_t lanes = (inner + kWarpSize - 1) / kWarpSize * kWarpSize;
    return outer > 1 && 4 * lanes > 5 * inner && iterations >= kFewestForLanes;
}

class Collapse {
public:
    // `kept`: loops that must not be merged.
    Collapse(PassContext& context, Planner planner, Candidate candidate,
             std::unordered_set<const For*> kept)
        : kept_(std::move(kept)),
          module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options),
          planner_(planner),
          candidate_(candidate) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop == nullptr) {
                for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
                continue;
            }
            Nest nest = nest_of(*loop);
            body(nest.back()->body);
            double iterations = 1;
            for (const For* level : nest) {
                const auto trips = constant_trip_count(*level);
                iterations *= trips ? static_cast<double>(*trips) : Traffic::kGuessedTrips;
            }
            for (std::size_t inner = nest.size() - 1; inner > 0; --inner) {
                Body& around = inner > 1 ? nest[inner - 2]->body : stmts;
                const std::size_t place = inner > 1 ? 0 : i;
                if (For* made = collapse(around, place, iterations)) {
                    nest.resize(inner);
                    nest.back() = made;
                }
            }
        }
    }

    // The loop that replaces two, or null. `iterations`: those of their whole nest.
    For* collapse(Body& around, std::size_t place, double iterations) {
        auto* outer = around[place]->as<For>();
        auto* inner = outer->body.front()->as<For>();
        const auto rows = constant_trip_count(*outer), columns = constant_trip_count(*inner);
        if (!rows || !columns || *rows == 0 || *columns == 0 || *rows > kMostIterations / *columns)
            return nullptr;
        if (kept_.contains(outer) || kept_.contains(inner)) return nullptr;
        if (!movable(*outer, *inner) || asked_for(*outer, *inner)) return nullptr;
        {
            ParallelLoops loops(entry_, options_.deterministic);
            const bool vector = nest_of(*inner).size() == 1 && loops.traffic().contiguous(*inner);
            const auto independent = [&](For& loop) {
                return loops.legal(loop) && !loops.reduces(loop) &&
                       loops.facts(loop).conditions.empty();
            };
            if (!candidate_(*rows, *columns, iterations, vector) || !independent(*outer) ||
                !independent(*inner)) {
                return nullptr;
            }
        }
        For* made = both(*outer, *inner, *rows, *columns);
        const bool pays = replace_if_faster(around, place, {made}, kWorthwhile, entry_,
                                            options_.deterministic, planner_);
        return pays ? made : nullptr;
    }

    [[nodiscard]] bool movable(const For& outer, const For& inner) const {
        if (!only_computes(inner.body)) return false;
        const Liveness liveness(entry_);
        const VarSet& live = liveness.after(&outer);
        return !live.contains(outer.var) && !live.contains(inner.var);
    }

    // Whether a mapping by hand names both loops by labels, or one of them by its place.
    [[nodiscard]] bool asked_for(const For& outer, const For& inner) const {
        const auto places = place_names(entry_);
        const auto labelled = [&](const For& loop) {
            return std::ranges::any_of(loop.labels, [&](const std::string& label) {
                return options_.mapping.contains(label);
            });
        };
        return (labelled(outer) && labelled(inner)) ||
               options_.mapping.contains(places.at(&outer)) ||
               options_.mapping.contains(places.at(&inner));
    }

    For* both(const For& outer, const For& inner, std::int64_t rows, std::int64_t columns) {
        Builder b(module_, outer.span);
        Var* count = b.scalar(outer.var->name + "_" + inner.var->name, Scalar::kI64);
        Substitution own;
        const auto value = [&](const For& loop, Op op) {
            const Scalar type = loop.var->type.scalar;
            Expr* result = b.convert(b.binary(op, b.var(count), b.integer(columns)), type);
            if (constant_integer(loop.step) != 1)
                result = b.binary(Op::kMul, result, clone(module_, loop.step));
            if (constant_integer(loop.begin) != 0)
                result = b.binary(Op::kAdd, clone(module_, loop.begin), result);
            own.vars[loop.var] = module_.make_var(loop.var->name, loop.var->type, loop.var->span);
            return b.assign(own.vars[loop.var], result);
        };
        Body body = {value(outer, Op::kFloorDiv), value(inner, Op::kMod)};
        const Body rest = clone(module_, inner.body, own);
        body.insert(body.end(), rest.begin(), rest.end());
        For* made = b.loop(count, b.integer(0), b.integer(rows * columns), std::move(body));
        made->labels = outer.labels;
        made->labels.insert(made->labels.end(), inner.labels.begin(), inner.labels.end());
        return made;
    }

    const std::unordered_set<const For*> kept_;
    Module& module_;
    Function& entry_;
    const Options& options_;
    const Planner planner_;
    const Candidate candidate_;
};

}  // namespace

void collapse_cpu_loops(PassContext& context) {
    Collapse(context, plan_cpu, leaves_cores_idle, contracted_loops(context)).run();
}

void collapse_cuda_loops(PassContext& context) {
    Collapse(context, plan_cuda, leaves_lanes_idle, {}).run();
}

}  // namespace parpy
