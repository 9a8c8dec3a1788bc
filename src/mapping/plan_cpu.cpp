// The CPU's cost model. In each nest one loop runs on the workers, the outermost legal one, unless
// an inner one has so many more iterations that starting it repeatedly pays; the innermost loops
// inside become SIMD if they access memory with stride one or compute elementary functions. Nests
// that surely have too little work for several threads stay on one thread; for every other nest,
// the run-time system decides when the nest runs whether it has enough work.
#include <algorithm>

#include "analysis/cost.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "support/abi.h"

namespace parpy {

using namespace ir;

namespace {

// The figures of a typical machine, so that a program has the same mapping everywhere.
constexpr double kCores = 8;
constexpr double kDispatch = 4000;        // ns to start a loop on the workers and wait for them
constexpr double kAtomic = 20;            // ns of an atomic update that other workers make too
constexpr std::int64_t kApart = 1 << 16;  // array elements from which on workers rarely collide
constexpr std::int64_t kMostThreads = 1024;

class CpuPlanner {
public:
    explicit CpuPlanner(ParallelLoops& loops)
        : loops_(loops), traffic_(loops.traffic()), time_(traffic_) {}

    Plan body(Body& stmts) {
        Plan plan;
        for (Stmt* stmt : stmts)
            plan.append(statement(*stmt));
        return plan;
    }

private:
    Plan statement(Stmt& stmt) {
        if (auto* loop = stmt.as<For>()) return nest(*loop);
        Plan plan{time_.of(stmt), {}};
        // The gain of the choices rarely matters: there is no loop around.
        for_each_body(stmt, [&](Body& inner) { plan.append(body(inner), 0); });
        return plan;
    }

    Plan nest(For& loop) {
        const auto most = time_.most(loop);
        if (most && *most < kParpySerialBelow) {
            Plan plan{time_.of(loop), {}};
            vectors(loop, plan, true);
            return plan;
        }
        const double trips = traffic_.trips(loop);
        const double alone = time_.of(loop);
        const double parallel = std::min(alone, kDispatch + alone / std::clamp(trips, 1.0, kCores));
        Plan inside;
        inside.append(body(loop.body), trips);
        if (inside.nanoseconds < parallel || !may_run(loop, trips, inside.nanoseconds))
            return inside;
        Plan plan{parallel, {{&loop, request(loop)}}};
        vectors(loop.body, plan);
        return plan;
    }

    // Whether updates by workers collide: elements of a small array share lines of the cache.
    static bool collides(const Var& array) {
        std::int64_t elements = 1;
        for (const Dim& dim : array.dims) {
            if (!dim.extent || __builtin_mul_overflow(elements, *dim.extent, &elements))
                return false;
        }
        return elements < kApart;
    }

    // A loop with atomic updates must be faster than the alternative.
    bool may_run(For& loop, double trips, double alternative) {
        if (loops_.legal(loop)) return true;
        const std::vector<Update> updates = loops_.scattered(loop);
        if (updates.empty()) return false;
        const Accesses& accesses = loops_.accesses();
        double atomics = 0, in_turn = 0;
        for (const Access& access : accesses.all()) {
            const auto made = std::ranges::count_if(
                updates, [&](const Update& update) { return access.made_by(*update.slot); });
            (collides(*access.array) ? in_turn : atomics) +=
                static_cast<double>(made) * traffic_.runs(access.loop);
        }
        const double once = traffic_.runs(accesses.loop_of(&loop)) / trips;
        const double work = time_.of(loop) + atomics / once * kAtomic;
        return kDispatch + work / std::clamp(trips, 1.0, kCores) + in_turn / once * kAtomic <
               alternative;
    }

    LoopPar request(For& loop) {
        LoopPar result;
        result.threads = static_cast<std::int64_t>(
            std::clamp(traffic_.most_trips(loop), 1.0, static_cast<double>(kMostThreads)));
        result.reduce = loops_.reduces(loop);
        return result;
    }

    // Every iteration computes an elementary function. Clang does not vectorise reductions in
    // branches.
    static bool computes_much(const For& loop) {
        return any_expr(loop.body, [](const Expr& e) { return is_elementary(e.op); }) &&
               std::ranges::all_of(loop.body, [](const Stmt* stmt) {
                   return stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kStore;
               });
    }

    void vectors(Body& stmts, Plan& plan) {
        for (For* loop : outermost_loops(stmts))
            vectors(*loop, plan);
    }

    // `alone`: on the current thread.
    void vectors(For& loop, Plan& plan, bool alone = false) {
        const std::vector<For*> inside = outermost_loops(loop.body);
        for (For* inner : inside)
            vectors(*inner, plan, alone);
        if (inside.empty() && (traffic_.contiguous(loop) || computes_much(loop)) &&
            loops_.legal(loop)) {
            LoopPar lanes = request(loop);
            if (alone) lanes.threads = 1;
            plan.choices.push_back({&loop, lanes});
        }
    }

    ParallelLoops& loops_;
    Traffic traffic_;
    SequentialTime time_;
};

}  // namespace

Plan plan_cpu(ParallelLoops& loops) {
    return CpuPlanner(loops).body(loops.entry.body);
}

}  // namespace parpy
