// See counter_starts.h.
#include "emit/counter_starts.h"

#include <algorithm>
#include <limits>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_one(std::optional<std::int64_t> step) {
    return step == 1 || step == -1;
}

// v = v + 1, v = v - 1, and the same as updates.
bool steps_by_one(const Assign& assign) {
    if (assign.update) {
        const bool sum = *assign.update == Op::kAdd || *assign.update == Op::kSub;
        return sum && is_one(constant_integer(assign.value));
    }
    const Expr& sum = *assign.value;
    if (sum.op != Op::kAdd && sum.op != Op::kSub) return false;
    const Expr& from = *sum.operands[0];
    return from.op == Op::kVar && from.var == assign.var &&
           is_one(constant_integer(sum.operands[1]));
}

// Whether an iteration may run a loop: in its body, or in a function that it calls.
bool repeats(const Body& body) {
    return contains_loop(body) || any_expr(body, [](const Expr& e) { return e.op == Op::kCall; });
}

// The statements of `body` that one iteration runs once at most.
template <class F>
void for_each_outside_loops(const Body& body, F&& fn) {
    for (const Stmt* stmt : body) {
        fn(*stmt);
        if (const auto* branch = stmt->as<If>()) {
            for_each_outside_loops(branch->then_body, fn);
            for_each_outside_loops(branch->else_body, fn);
        }
    }
}

// Whether it loads and stores an array whose elements have a distance that only the call knows:
// where a branch lies in between, NVRTC 13.0 stores to other elements of unrolled iterations.
bool updates_at_distance(const Body& body) {
    const Uses uses = uses_of(body);
    return std::ranges::any_of(uses.stored, [&](const Var* array) {
        return uses.loaded.contains(array) &&
               std::ranges::any_of(array->dims, [](const Dim& dim) { return !dim.stride; });
    });
}

}  // namespace

std::optional<std::int64_t> exact_end(const For& loop) {
    const auto begin = constant_integer(loop.begin), end = constant_integer(loop.end);
    const auto step = constant_integer(loop.step);
    const auto trips = constant_trip_count(loop);
    if (!begin || !end || !step || !trips || *trips == 0) return std::nullopt;
    const bool may_leave = any_stmt(loop.body, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kReturn;
    });
    if (may_leave || updates_at_distance(loop.body)) return std::nullopt;
    const std::int64_t last = *begin + (*trips - 1) * *step;  // the variable's last value
    std::int64_t exact = 0;
    if (__builtin_add_overflow(last, *step, &exact)) return std::nullopt;
    // If the type is narrower than an int, the sum may be a value that the variable cannot have.
    const std::int64_t bytes = size_in_bytes(loop.var->type.scalar);
    const bool fits =
        bytes == 8 || (bytes == 4 && exact >= std::numeric_limits<std::int32_t>::min() &&
                       exact <= std::numeric_limits<std::int32_t>::max());
    return fits ? std::optional(exact) : std::nullopt;
}

bool hides_start(const For& loop, bool by_hand) {
    const bool of_thread =
        !by_hand && any_expr(*loop.begin, [](const Expr& e) { return e.op == Op::kRegister; });
    const bool alone = is_one(constant_integer(loop.step)) && !repeats(loop.body);
    const bool trusted = alone && !updates_at_distance(loop.body);
    return !of_thread && !trusted && !exact_end(loop);
}

std::vector<Var*> hidden_counters(const Stmt& stmt) {
    const auto* repeated = stmt.as<While>();
    const Body& body = repeated != nullptr ? repeated->body : stmt.as<For>()->body;
    const Uses uses = uses_of(body);
    const VarSet exposed = exposed_reads(body);
    const bool alone = !repeats(body) && !updates_at_distance(body);
    std::vector<Var*> result;
    for (Var* var : uses.written) {
        if (!is_integer(var->type.scalar)) continue;
        const bool tested = repeated != nullptr && uses_of(*repeated->condition).read.contains(var);
        if (!tested && !exposed.contains(var)) continue;
        std::size_t assignments = 0, ones = 0;
        for_each_stmt(body, [&](const Stmt& inner) {
            const auto* assign = inner.as<Assign>();
            if (assign != nullptr && assign->var == var) ++assignments;
        });
        for_each_outside_loops(body, [&](const Stmt& inner) {
            const auto* assign = inner.as<Assign>();
            ones += alone && assign != nullptr && assign->var == var && steps_by_one(*assign);
        });
        // A variable without assignments is the counter of an inner loop.
        if (assignments > 1 || (assignments == 1 && ones == 0)) result.push_back(var);
    }
    return result;
}

}  // namespace parpy
