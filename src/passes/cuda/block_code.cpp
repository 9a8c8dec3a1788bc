// See block_code.h.
#include "passes/cuda/block_code.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_thread_register(const Expr& e) {
    if (e.op != Op::kRegister) return false;
    switch (e.reg) {
        case Register::kThreadX:
        case Register::kThreadY:
        case Register::kThreadZ:
        case Register::kLane:
        case Register::kWarp:
            return true;
        default:
            return false;
    }
}

// Whether the statement contains code for all threads: thread loops and calls, barriers, exchanges.
bool involves_threads(const Stmt& stmt) {
    return any_expr(stmt, is_thread_register) || contains_spread_call(stmt) ||
           any_stmt(stmt, [](const Stmt& inner) {
               const auto* loop = inner.as<For>();
               return inner.kind == StmtKind::kBarrier ||
                      (loop != nullptr && loop->mapping.parallel());
           });
}

bool stores(const Uses& uses) {
    return std::any_of(uses.stored.begin(), uses.stored.end(),
                       [](const Var* array) { return array->space != Space::kLocal; });
}

// Whether the statement stores to an array that each thread has a copy of, and that was allocated
// before it: all threads may read their copies later.
bool stores_to_own_arrays(const Stmt& stmt, const Uses& uses) {
    return std::any_of(uses.stored.begin(), uses.stored.end(), [&](const Var* array) {
        return array->space == Space::kLocal && !any_stmt(stmt, [&](const Stmt& inner) {
                   const auto* alloc = inner.as<Alloc>();
                   return alloc != nullptr && alloc->array == array;
               });
    });
}

}  // namespace

bool per_thread(const Expr& expr) {
    return any_expr(expr, is_thread_register);
}

bool is_first_thread(const Expr& condition) {
    return condition.op == Op::kEq && condition.operands[0]->op == Op::kRegister &&
           condition.operands[0]->reg == Register::kThreadX &&
           constant_integer(condition.operands[1]) == 0;
}

Runs BlockCode::how(const Stmt& stmt) const {
    const auto* loop = stmt.as<For>();
    if (loop != nullptr && loop->mapping.level == Level::kThreads) return Runs::kThreads;
    if (loop != nullptr && loop->mapping.level == Level::kBlocks) return Runs::kStructured;
    const auto* branch = stmt.as<If>();
    if (branch != nullptr && per_thread(*branch->condition)) return Runs::kPerThread;
    const bool compound = loop != nullptr || branch != nullptr || stmt.kind == StmtKind::kWhile;
    if (involves_threads(stmt) || leaves_loop(stmt))
        return compound ? Runs::kStructured : Runs::kAll;
    const Uses uses = uses_of(stmt);
    if (!stores(uses)) return compound ? Runs::kStructured : Runs::kAll;
    const VarSet& wanted = liveness_.after(&stmt);
    const bool result = stores_to_own_arrays(stmt, uses) ||
                        std::any_of(uses.written.begin(), uses.written.end(),
                                    [&](const Var* v) { return wanted.contains(v); });
    if (result) return compound ? Runs::kStructured : Runs::kAll;
    return Runs::kOne;
}

}  // namespace parpy
