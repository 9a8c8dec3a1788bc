// See guard_steps.h.
#include "passes/checks/guard_steps.h"

#include <algorithm>

#include "analysis/integers/intervals.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

bool has_computed_step(const Function& function) {
    return any_stmt(function.body, [](const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        return loop != nullptr && !constant_integer(loop->step);
    });
}

class StepGuards {
public:
    StepGuards(Module& module, Function& function)
        : b_(module), function_(function), intervals_(function), uses_(uses_of(function.body)) {}

    void run() { body(function_.body, nullptr); }

private:
    struct Guard {
        const For* loop;
        Expr* condition;  // when it fails
        bool settled;     // determined by arguments alone
    };

    // Returns the guards that may move before `around`, the loop whose body this is.
    std::vector<Guard> body(Body& stmts, const For* around) {
        std::vector<Guard> rising;
        Body out;
        out.reserve(stmts.size());
        const bool open = around != nullptr && settled(*around) && !contains_jump(around->body);
        for (Stmt* stmt : stmts) {
            if (auto* loop = stmt->as<For>()) {
                for (Guard& guard : of_loop(*loop)) {
                    if (!open || !guard.settled) {
                        out.push_back(test(guard));
                        continue;
                    }
                    guard.condition = b_.binary(Op::kAnd, runs(*around), guard.condition);
                    rising.push_back(guard);
                }
            } else {
                for_each_body(*stmt, [&](Body& inner) { body(inner, nullptr); });
            }
            out.push_back(stmt);
        }
        stmts = std::move(out);
        return rising;
    }

    // The guards of the loop itself, and those that move out of it.
    std::vector<Guard> of_loop(For& loop) {
        std::vector<Guard> guards;
        const Interval step = intervals_.of(loop.step);
        if (!constant_integer(loop.step) && step.low <= 0 && step.high >= 0) {
            b_.span = loop.span;
            guards.push_back(
                {&loop, b_.binary(Op::kEq, copy(loop.step), zero(loop)), settled(*loop.step)});
        }
        loops_.push_back(&loop);
        const std::vector<Guard> inner = body(loop.body, &loop);
        loops_.pop_back();
        guards.insert(guards.end(), inner.begin(), inner.end());
        return guards;
    }

    If* test(const Guard& guard) {
        b_.span = guard.loop->span;
        FailBuilder fail(b_, Code::kP425);
        fail.site().message = "range() arg 3 must not be zero";
        fail.note_iterations(loops_);
        return b_.if_(guard.condition, {fail.make()});
    }

    Expr* copy(const Expr* e) { return clone(b_.module(), e); }
    Expr* zero(const For& loop) { return b_.integer(0, loop.step->type.scalar); }

    // Whether the loop has an iteration.
    Expr* runs(const For& loop) {
        b_.span = loop.span;
        const auto compare = [&](Op op) { return b_.binary(op, copy(loop.begin), copy(loop.end)); };
        if (const auto step = constant_integer(loop.step)) {
            return compare(*step > 0 ? Op::kLt : Op::kGt);
        }
        return b_.select(b_.binary(Op::kGt, copy(loop.step), zero(loop)), compare(Op::kLt),
                         compare(Op::kGt));
    }

    bool settled(const For& loop) const {
        return settled(*loop.begin) && settled(*loop.end) && settled(*loop.step);
    }
    // Whether it consists of constants and of arguments that the function never assigns.
    bool settled(const Expr& expr) const {
        const Uses uses = uses_of(expr);
        return uses.loaded.empty() && !uses.calls &&
               std::ranges::all_of(uses.read, [&](const Var* var) {
                   return std::ranges::find(function_.params, var) != function_.params.end() &&
                          !uses_.written.contains(var);
               });
    }

    Builder b_;
    Function& function_;
    const Intervals intervals_;
    const Uses uses_;
    LoopStack loops_;
};

}  // namespace

void guard_steps(PassContext& context) {
    for (Function* function : context.module.functions) {
        if (has_computed_step(*function)) StepGuards(context.module, *function).run();
    }
}

}  // namespace parpy
