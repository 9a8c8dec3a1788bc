// See counter_starts.h.
#include "emit/counter_starts.h"

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

// Whether `assign` may step its variable by 2 or more, the same in every iteration.
bool strides(const Assign& assign) {
    if (!uses_of(*assign.value).loaded.empty()) return false;
    if (assign.update)
        return !(*assign.update == Op::kAdd || *assign.update == Op::kSub) ||
               !is_one(constant_integer(assign.value));
    const Expr& sum = *assign.value;
    if (sum.op != Op::kAdd && sum.op != Op::kSub) return true;
    const Expr& from = *sum.operands[0];
    return from.op != Op::kVar || from.var != assign.var ||
           !is_one(constant_integer(sum.operands[1]));
}

}  // namespace

std::optional<std::int64_t> exact_end(const For& loop) {
    const auto begin = constant_integer(loop.begin), end = constant_integer(loop.end);
    const auto step = constant_integer(loop.step);
    const auto trips = constant_trip_count(loop);
    if (!begin || !end || !step || is_one(step) || !trips || *trips == 0) return std::nullopt;
    const bool may_leave = any_stmt(loop.body, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kReturn;
    });
    if (may_leave) return std::nullopt;
    const std::int64_t last = *begin + (*trips - 1) * *step;  // the variable's last value
    std::int64_t exact = 0;
    if (__builtin_add_overflow(last, *step, &exact)) return std::nullopt;
    const bool narrow = size_in_bytes(loop.var->type.scalar) < 8;
    const bool fits = !narrow || (exact >= std::numeric_limits<std::int32_t>::min() &&
                                  exact <= std::numeric_limits<std::int32_t>::max());
    return fits ? std::optional(exact) : std::nullopt;
}

bool hides_start(const For& loop) {
    const bool of_thread =
        any_expr(*loop.begin, [](const Expr& e) { return e.op == Op::kRegister; });
    return !of_thread && !is_one(constant_integer(loop.step)) && !exact_end(loop);
}

std::vector<Var*> hidden_counters(const Stmt& stmt) {
    const auto* repeated = stmt.as<While>();
    const Body& body = repeated != nullptr ? repeated->body : stmt.as<For>()->body;
    const Uses uses = uses_of(body);
    const VarSet exposed = exposed_reads(body);
    std::vector<Var*> result;
    for (Var* var : uses.written) {
        if (!is_integer(var->type.scalar)) continue;
        const bool tested = repeated != nullptr && uses_of(*repeated->condition).read.contains(var);
        if (!tested && !exposed.contains(var)) continue;
        const bool counts = any_stmt(body, [&](const Stmt& inner) {
            const auto* assign = inner.as<Assign>();
            return assign != nullptr && assign->var == var && strides(*assign);
        });
        if (counts) result.push_back(var);
    }
    return result;
}

}  // namespace parpy
