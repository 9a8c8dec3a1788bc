// The automatic mode's decision: which loops run in parallel, on how many threads. A plan is a
// mapping that a user could have written; plan_cpu.cpp and plan_cuda.cpp each have a cost model.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "analysis/memory/dependences.h"
#include "analysis/traffic.h"
#include "analysis/updates.h"
#include "ir/ir.h"
#include "parpy/mapping.h"

namespace parpy {

struct Choice {
    ir::For* loop = nullptr;
    LoopPar request;
};

struct Plan {
    double nanoseconds = 0;  // estimate for one execution of the planned code
    std::vector<Choice> choices;
    // Statements of the host that a single block of the GPU runs, with the loops in them.
    std::vector<const ir::Stmt*> in_one_block = {};

    // Adds the plan of a part, which runs `times` times.
    void append(const Plan& part, double times = 1) {
        nanoseconds += times * part.nanoseconds;
        choices.insert(choices.end(), part.choices.begin(), part.choices.end());
        in_one_block.insert(in_one_block.end(), part.in_one_block.begin(), part.in_one_block.end());
    }
};

// Which loops of a function may run in parallel: loops proved independent, and reductions into
// invariant places. An answer may take milliseconds, so planners ask only about loops that they
// would choose.
class ParallelLoops {
public:
    ParallelLoops(ir::Function& entry, bool deterministic)
        : entry(entry), dependences_(entry), deterministic_(deterministic) {}

    ir::Function& entry;

    [[nodiscard]] const LoopFacts& facts(ir::For& loop);
    [[nodiscard]] bool legal(ir::For& loop);
    // The updates that must be atomic for the loop to be legal; empty for any other loop.
    [[nodiscard]] std::vector<Update> scattered(ir::For& loop);
    [[nodiscard]] bool reduces(ir::For& loop);
    // The independence in the sense of contractions.
    [[nodiscard]] Independence independence(ir::For& loop);
    [[nodiscard]] bool reads_apart(const ir::For& loop, const ir::Stmt& stmt) {
        return dependences_.reads_apart(loop, stmt);
    }
    [[nodiscard]] bool conflict(const ir::For& loop, const ir::Body& source, const ir::Body& sink,
                                bool same) {
        return dependences_.conflict(loop, source, sink, same);
    }
    [[nodiscard]] Judge judge() {
        return {
            [this](ir::For& loop) { return independence(loop); },
            [this](const ir::For& loop, const ir::Stmt& stmt) { return reads_apart(loop, stmt); }};
    }
    // See Dependences::interchangeable().
    [[nodiscard]] bool interchangeable(ir::For& outer, ir::For& inner) {
        return dependences_.interchangeable(outer, inner);
    }
    [[nodiscard]] const Accesses& accesses() const { return dependences_.accesses(); }
    [[nodiscard]] Traffic traffic() const { return Traffic(accesses()); }

private:
    Dependences dependences_;
    bool deterministic_;
    std::unordered_map<const ir::For*, LoopFacts> known_;
};

inline constexpr double kLaunchTime = 3000;      // ns between the launches of two kernels
inline constexpr double kThreadsAtOnce = 65536;  // use the bandwidth of the whole card

[[nodiscard]] Plan plan_cpu(ParallelLoops& loops);
// Statements that the plan leaves on the host do not use arrays.
[[nodiscard]] Plan plan_cuda(ParallelLoops& loops);

using Planner = Plan (*)(ParallelLoops&);

// Replaces one statement by others, if the planner's estimate for that place becomes at most
// `factor` times the old one, or `before`, if that is given.
bool replace_if_faster(ir::Body& stmts, std::size_t place, const ir::Body& others, double factor,
                       ir::Function& entry, bool deterministic, Planner planner,
                       std::optional<double> before = std::nullopt);

// The loops in `body` that are not inside another loop of `body`.
[[nodiscard]] std::vector<ir::For*> outermost_loops(ir::Body& body);

// Nanoseconds of one execution on one CPU core.
class SequentialTime {
public:
    explicit SequentialTime(const Traffic& traffic) : traffic_(traffic) {}
    [[nodiscard]] double of(const ir::Stmt& stmt) const;
    [[nodiscard]] double of(const ir::Body& body) const;
    // An upper bound; nothing if there is none.
    [[nodiscard]] std::optional<double> most(const ir::Stmt& stmt) const;

private:
    const Traffic& traffic_;
};

}  // namespace parpy
