// The automatic mode's decision: which loops run in parallel, on how many threads. A plan is what a
// user could have written as a mapping; plan_cpu.cpp and plan_cuda.cpp each hold a cost model.
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
    double nanoseconds = 0;  // estimated, of one execution of what was planned
    std::vector<Choice> choices;

    // With what was planned for a part of it, which runs `times` times.
    void append(const Plan& part, double times = 1) {
        nanoseconds += times * part.nanoseconds;
        choices.insert(choices.end(), part.choices.begin(), part.choices.end());
    }
};

// Which loops of a function may run in parallel: those proved independent, and reductions into
// places that the loop leaves alone. An answer may take milliseconds, so planners ask only about
// loops that they would choose.
class ParallelLoops {
public:
    ParallelLoops(ir::Function& entry, bool deterministic)
        : entry(entry), dependences_(entry), deterministic_(deterministic) {}

    ir::Function& entry;

    [[nodiscard]] const LoopFacts& facts(ir::For& loop);
    [[nodiscard]] bool legal(ir::For& loop);
    // The updates that are to be atomic for the loop to be legal; empty for others.
    [[nodiscard]] std::vector<Update> scattered(ir::For& loop);
    [[nodiscard]] bool reduces(ir::For& loop);
    // As contractions ask for it.
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
    // Dependences::interchangeable().
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

[[nodiscard]] Plan plan_cpu(ParallelLoops& loops);
// Statements that the plan leaves to the host use no array.
[[nodiscard]] Plan plan_cuda(ParallelLoops& loops);

using Planner = Plan (*)(ParallelLoops&);

// Puts other statements in the place of one, if what the planner estimates for that place becomes
// at most `factor` times as long.
bool replace_if_faster(ir::Body& stmts, std::size_t place, const ir::Body& others, double factor,
                       ir::Function& entry, bool deterministic, Planner planner);

// The loops in `body` with no loop of `body` around them.
[[nodiscard]] std::vector<ir::For*> outermost_loops(ir::Body& body);

// Nanoseconds of one execution on one CPU core.
class SequentialTime {
public:
    explicit SequentialTime(const Traffic& traffic) : traffic_(traffic) {}
    [[nodiscard]] double of(const ir::Stmt& stmt) const;
    [[nodiscard]] double of(const ir::Body& body) const;
    // The most that it may take; nothing where that is not known.
    [[nodiscard]] std::optional<double> most(const ir::Stmt& stmt) const;

private:
    const Traffic& traffic_;
};

}  // namespace parpy
