// Loops over tuples whose elements are no numbers of one kind (kind_walk.h).
#include <algorithm>

#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/aggregates/kind_walk.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostIterations = 32;

// Whether the loop itself may be left or its iteration ended before the end of its statements.
bool jumps(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kBreak || stmt->kind == StmtKind::kContinue) return true;
        if (stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile) return false;
        bool found = false;
        for_each_body(*stmt, [&](const Body& inner) { found = found || jumps(inner); });
        return found;
    });
}

bool assigns(const Body& body, const Var* var) {
    return any_stmt(body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        const auto* loop = stmt.as<For>();
        return (assign != nullptr && assign->var == var) || (loop != nullptr && loop->var == var);
    });
}

// Whether the program can choose among such values when it runs.
bool is_chosen_at_run_time(const Kind& kind) {
    if (kind.is_number()) return kind.rank == 0;
    const bool has_parts = kind.is_tuple() || kind.is_record();
    return has_parts && std::ranges::all_of(kind.parts, is_chosen_at_run_time);
}

}  // namespace

std::optional<std::int64_t> KindWalk::unrolled(const For& loop, const KindsHere& here) const {
    if (!loop.labels.empty() || constant_integer(loop.begin) != 0 ||
        constant_integer(loop.step) != 1 || loop.end->op != Op::kLength || jumps(loop.body) ||
        assigns(loop.body, loop.var))
        return std::nullopt;
    const Kind tuple = of(*loop.end->operands[0], here);
    const auto count = static_cast<std::int64_t>(tuple.parts.size());
    const Kind any = any_part(tuple);
    // Of arrays the dimensions may be unknown, which are then not those of numbers.
    if (!tuple.is_tuple() || count > kMostIterations || is_chosen_at_run_time(any))
        return std::nullopt;
    return count;
}

void KindWalk::walk_unrolled(const For& loop, std::int64_t count, KindsHere& here) {
    for (std::int64_t i = 0; i < count && here.reachable; ++i) {
        numbers_[loop.var] = i;
        known_.clear();  // loops inside may meet other elements
        walk(loop.body, here);
    }
    numbers_.erase(loop.var);
    known_.clear();
    here.of[loop.var] = Kind::number();
}

}  // namespace parpy
