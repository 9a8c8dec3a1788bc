// Loops over tuples whose elements are not all numbers of one kind (kind_walk.h).
#include <algorithm>

#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/aggregates/kind_walk.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostIterations = 32;

// Whether a statement may leave the loop itself or end an iteration early.
bool jumps(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kBreak || stmt->kind == StmtKind::kContinue) return true;
        if (stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile) return false;
        bool found = false;
        for_each_body(*stmt, [&](const Body& inner) { found = found || jumps(inner); });
        return found;
    });
}

bool assigns(const Stmt& in, const Var* var) {
    return any_stmt(in, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        const auto* loop = stmt.as<For>();
        return (assign != nullptr && assign->var == var) || (loop != nullptr && loop->var == var);
    });
}

// Whether the program can choose among such values at run time.
bool is_chosen_at_run_time(const Kind& kind) {
    if (kind.is_number()) return kind.rank == 0;
    const bool has_parts = kind.is_tuple() || kind.is_record();
    return has_parts && std::ranges::all_of(kind.parts, is_chosen_at_run_time);
}

}  // namespace

// The least length of the tuples of which `length` is a minimum; nothing if it is of none.
// `unlike`: whether the program could not choose among the elements of one.
std::optional<std::int64_t> KindWalk::shortest_tuple(const Expr& length, bool& unlike,
                                                     const KindsHere& here) const {
    if (length.op == Op::kMin) {
        const auto a = shortest_tuple(*length.operands[0], unlike, here);
        const auto b = shortest_tuple(*length.operands[1], unlike, here);
        return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
    }
    const Kind tuple = length.op == Op::kLength ? of(*length.operands[0], here) : Kind::number();
    if (!tuple.is_tuple()) return std::nullopt;
    // The rank of an array may be unknown, and then differs from that of numbers.
    unlike = unlike || tuple.parts.empty() || !is_chosen_at_run_time(any_part(tuple));
    return static_cast<std::int64_t>(tuple.parts.size());
}

// Whether the loop selects parts of such tuples by its variable: ws[k + 1].
bool KindWalk::takes_unlike_parts(const For& loop, const Unrolled& unrolled,
                                  const KindsHere& here) const {
    const auto varies = [&](const Expr& index) {
        return any_expr(index, [&](const Expr& e) {
            return e.op == Op::kVar &&
                   (e.var == loop.var ||
                    std::ranges::find(unrolled.copies, e.var) != unrolled.copies.end());
        });
    };
    return any_expr(loop.body, [&](const Expr& e) {
        if (e.op != Op::kLoad || e.operands.empty() || !varies(*e.operands[0])) return false;
        const Kind tuple = kind_of(*e.var, here);
        return tuple.is_tuple() && !tuple.parts.empty() && !is_chosen_at_run_time(any_part(tuple));
    });
}

std::optional<KindWalk::Unrolled> KindWalk::unrolled(const For& loop, const KindsHere& here) const {
    if (!loop.labels.empty() || jumps(loop.body) ||
        std::ranges::any_of(loop.body, [&](const Stmt* stmt) { return assigns(*stmt, loop.var); }))
        return {};
    const auto begin = integer(*loop.begin, here), step = integer(*loop.step, here);
    if (!begin || !step || *step == 0) return {};
    bool unlike = false;
    auto end = shortest_tuple(*loop.end, unlike, here);
    if (!end) end = integer(*loop.end, here);
    if (!end) return {};
    Unrolled result;
    for (std::int64_t i = *begin; *step > 0 ? i < *end : i > *end; i += *step) {
        if (result.numbers.size() == kMostIterations) return {};
        result.numbers.push_back(i);
    }
    for (const Stmt* stmt : loop.body) {
        const auto* copy = stmt->as<Assign>();
        if (copy == nullptr || copy->update || copy->value->op != Op::kVar ||
            copy->value->var != loop.var)
            break;
        const auto others = std::ranges::count_if(loop.body, [&](const Stmt* other) {
            return other != stmt && assigns(*other, copy->var);
        });
        if (others == 0) result.copies.push_back(copy->var);
    }
    return unlike || takes_unlike_parts(loop, result, here) ? std::optional(result) : std::nullopt;
}

void KindWalk::walk_unrolled(const For& loop, const Unrolled& unrolled, KindsHere& here) {
    for (const std::int64_t i : unrolled.numbers) {
        if (!here.reachable) break;
        numbers_[loop.var] = i;
        for (const Var* copy : unrolled.copies)
            numbers_[copy] = i;
        known_.clear();  // inner loops may see other elements
        walk(loop.body, here);
    }
    numbers_.erase(loop.var);
    for (const Var* copy : unrolled.copies)
        numbers_.erase(copy);
    known_.clear();
    here.of[loop.var] = Kind::number();
}

}  // namespace parpy
