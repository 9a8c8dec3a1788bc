// See column_parts.h.
#include "passes/cpu/column_parts.h"

#include <algorithm>
#include <cmath>

#include "analysis/cost.h"
#include "analysis/nests.h"
#include "analysis/traffic.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kLine = 64;           // bytes that memory moves at a time
constexpr double kWorthwhile = 0.5;    // of the bytes that were moved before
constexpr double kFewestColumns = 16;  // that a block pays for
constexpr double kFewestSteps = 16;    // whose lines do not stay close anyway
constexpr double kFewestInTurn = 8;    // costly steps on the same elements

// What is known of it is in its bounds and body.
bool is_plain(const For& loop) {
    const LoopMapping& mapping = loop.mapping;
    return constant_integer(loop.step) == 1 && loop.cost == nullptr && !mapping.unroll &&
           !mapping.share && !loop.noted &&
           (mapping.level == Level::kSequential || mapping.level == Level::kWorkers);
}

bool mentions(const std::vector<Expr*>& indices, const Var& var) {
    return std::ranges::any_of(indices, [&](const Expr* index) {
        return any_expr(*index, [&](const Expr& e) { return e.var == &var; });
    });
}

// Whether results of these operations take long to arrive.
bool is_costly(const Body& stmts) {
    return any_expr(stmts, [](const Expr& e) {
        return is_elementary(e.op) || (e.op == Op::kDiv && !is_integer(e.type.scalar)) ||
               (e.op == Op::kAbs && is_complex(e.operands[0]->type.scalar));
    });
}

bool any_access(const Body& stmts, const auto& holds) {
    return any_expr(stmts, [&](const Expr& e) { return e.op == Op::kLoad && holds(e.operands); }) ||
           any_stmt(stmts, [&](const Stmt& stmt) {
               const auto* store = stmt.as<Store>();
               return store != nullptr && holds(store->indices);
           });
}

class Parts {
public:
    explicit Parts(ParallelLoops& loops) : loops_(loops) {}

    std::optional<std::vector<ColumnPart>> of(For& columns) {
        if (!walks_down(columns)) return std::nullopt;
        const Uses uses = uses_of(static_cast<const Stmt&>(columns));
        if (uses.calls || !uses.allocated.empty() || !only_computes(columns.body) ||
            std::ranges::any_of(columns.body, [](const Stmt* s) { return leaves_loop(*s); })) {
            return std::nullopt;
        }
        const Accesses& accesses = loops_.accesses();
        if (accesses.loop_of(&columns) < 0) return std::nullopt;
        const auto trips = loops_.traffic().known_trips(columns);
        if (trips && *trips < kFewestColumns) return std::nullopt;
        std::vector<ColumnPart> parts = parts_of(columns, columns.body, uses);
        if (std::ranges::none_of(parts, [](const ColumnPart& p) { return p.steps != nullptr; }))
            return std::nullopt;
        if (!loops_.legal(columns)) return std::nullopt;
        const LoopFacts& facts = loops_.facts(columns);
        const bool settled = facts.conditions.empty() || columns.mapping.level == Level::kWorkers;
        if (!settled || facts.scatters || !facts.carried_scalars.empty() ||
            !facts.last_values.empty() || !reduces_in_order(facts, parts)) {
            return std::nullopt;
        }
        return parts;
    }

private:
    std::vector<ColumnPart> parts_of(const For& columns, const Body& stmts, const Uses& uses) {
        std::vector<ColumnPart> parts;
        for (Stmt* stmt : stmts) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr && goes_around(columns, *loop, uses)) {
                parts.push_back({loop, parts_of(columns, loop->body, around(*loop, uses)), {}});
                continue;
            }
            if (parts.empty() || parts.back().steps != nullptr) parts.emplace_back();
            parts.back().stmts.push_back(stmt);
        }
        return parts;
    }

    // `uses` where the variable of a loop around the columns is given.
    static Uses around(const For& steps, Uses uses) {
        uses.written.erase(steps.var);
        return uses;
    }

    // The steps of all columns are the same, and columns taken together move fewer bytes.
    bool goes_around(const For& columns, For& steps, const Uses& uses) {
        const auto step = constant_integer(steps.step);
        if (!step || *step < 1 || steps.mapping.level != Level::kSequential ||
            steps.mapping.unroll || steps.mapping.share || !invariant(*steps.begin, uses) ||
            !invariant(*steps.end, uses) ||
            std::ranges::any_of(steps.body, [](const Stmt* s) { return leaves_loop(*s); })) {
            return false;
        }
        const Uses given = around(steps, uses);
        const bool inside = std::ranges::any_of(outermost_loops(steps.body), [&](For* loop) {
            return std::ranges::find(steps.body, loop) != steps.body.end() &&
                   goes_around(columns, *loop, given);
        });
        return inside || saves(columns, steps) || waits(columns, steps);
    }

    bool saves(const For& columns, const For& steps) {
        const Accesses& accesses = loops_.accesses();
        const int across = accesses.loop_of(&columns), along = accesses.loop_of(&steps);
        if (along < 0) return false;
        const Traffic traffic = loops_.traffic();
        const auto trips = traffic.known_trips(steps);
        if (trips && *trips < kFewestSteps) return false;
        double before = 0, after = 0;
        for (const Access& access : accesses.all()) {
            if (access.loop != along) continue;
            const auto moved = [&](int loop) {
                const auto stride = traffic.stride(access, loop);
                return std::min(stride ? std::abs(static_cast<double>(*stride)) : kLine, kLine);
            };
            before += moved(along);
            after += moved(across);
        }
        return before > 0 && after <= kWorthwhile * before;
    }

    // Every step repeats costly operations on the elements of its column and waits for the step
    // before it: lanes of a vector take the steps of neighbouring columns at the same time.
    bool waits(const For& columns, For& steps) {
        const Accesses& accesses = loops_.accesses();
        const int across = accesses.loop_of(&columns), along = accesses.loop_of(&steps);
        if (along < 0 || contains_loop(steps.body) || !is_costly(steps.body)) return false;
        const Traffic traffic = loops_.traffic();
        const auto trips = traffic.known_trips(steps);
        if (trips && *trips < kFewestInTurn) return false;
        bool moves = false;
        for (const Access& access : accesses.all()) {
            if (access.loop != along) continue;
            const auto stride = traffic.stride(access, across);
            if (traffic.stride(access, along) != 0 || !stride) return false;
            if (*stride != 0 && *stride != size_in_bytes(access.array->type.scalar)) return false;
            moves |= *stride != 0;
        }
        return moves && !loops_.legal(steps);
    }

    // The scalars in which columns meet are updated by statements that stand in no steps, all of
    // them in one part: in the order of the columns, as before.
    static bool reduces_in_order(const LoopFacts& facts, const std::vector<ColumnPart>& parts) {
        return std::ranges::all_of(facts.reductions, [&](const UpdateGroup& group) {
            const Var* target = group.updates.front().var;
            if (target->type.is_array()) return false;
            int touched = 0;
            for (const ColumnPart& part : parts) {
                const Uses uses = part.steps != nullptr
                                      ? uses_of(static_cast<const Stmt&>(*part.steps))
                                      : uses_of(part.stmts);
                if (!uses.read.contains(target) && !uses.written.contains(target)) continue;
                if (part.steps != nullptr) return false;
                ++touched;
            }
            return touched <= 1;
        });
    }

    ParallelLoops& loops_;
};

}  // namespace

bool walks_down(const For& columns) {
    if (!is_plain(columns) || !contains_loop(columns.body)) return false;
    return any_stmt(columns.body, [&](const Stmt& stmt) {
        const auto* steps = stmt.as<For>();
        if (steps == nullptr) return false;
        const bool costly = is_costly(steps->body);
        return any_access(steps->body, [&](const std::vector<Expr*>& indices) {
            return mentions(indices, *columns.var) && (costly || mentions(indices, *steps->var));
        });
    });
}

std::optional<std::vector<ColumnPart>> column_parts(ParallelLoops& loops, For& columns) {
    return Parts(loops).of(columns);
}

}  // namespace parpy
