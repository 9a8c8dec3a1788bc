// See guard_powers.h.
#include "passes/guard_powers.h"

#include <unordered_set>

#include "analysis/intervals.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/check_sites.h"
#include "passes/evaluation_steps.h"

namespace parpy {

using namespace ir;

namespace {

// Powers whose exponent may be negative.
std::unordered_set<const Expr*> open_powers(const Function& function) {
    std::unordered_set<const Expr*> found;
    std::optional<Intervals> ranges;  // asked for where there is a power
    for_each_expr(function.body, [&](const Expr& e) {
        if (e.op != Op::kPow || !is_signed_integer(e.type.scalar)) return;
        if (!ranges) ranges.emplace(function);
        const Interval exponent = ranges->of(e.operands[1]);
        if (!exponent.empty() && exponent.low < 0) found.insert(&e);
    });
    return found;
}

If* test(Builder& b, const Expr& power, const LoopStack& loops) {
    FailBuilder fail(b, Code::kP426);
    const Expr* exponent = power.operands[1];
    fail.site().message = "an integer cannot be raised to the negative power " +
                          fail.value(b.convert(clone(b.module(), exponent), Scalar::kI64));
    fail.site().help = "make the base a float: float(…) ** …";
    fail.note_iterations(loops);
    Expr* negative =
        b.binary(Op::kLt, clone(b.module(), exponent), b.integer(0, exponent->type.scalar));
    return b.if_(negative, {fail.make()});
}

// A lane cannot leave its loop.
void run_without_lanes(const LoopStack& loops) {
    for (For* loop : loops)
        if (loop->mapping.level == Level::kVector) loop->mapping = {};
}

void guard(Module& module, Function& function) {
    const std::unordered_set<const Expr*> powers = open_powers(function);
    if (powers.empty()) return;
    bool calls = false;
    for_each_expr(function.body, [&](const Expr& e) { calls = calls || e.op == Op::kCall; });
    // A call may write what is read in front of it.
    const auto watch = [&](const Expr& e) {
        return powers.contains(&e) || (calls && reaches_memory(e));
    };
    Builder b(module);
    EvaluationSteps* steps = nullptr;
    const auto take = [&](Expr*& e, Body& out, bool whole) {
        if (e->op != Op::kPow) {
            if (!whole) EvaluationSteps::hold(b, "value", e, out);
            return;
        }
        Expr*& exponent = e->operands[1];
        if (exponent->op != Op::kVar) EvaluationSteps::hold(b, "exponent", exponent, out);
        const Span statement = b.span;
        b.span = e->span.valid() ? e->span : statement;
        out.push_back(test(b, *e, steps->loops()));
        b.span = statement;
        run_without_lanes(steps->loops());
    };
    EvaluationSteps made(b, watch, take);
    steps = &made;
    made.body(function.body);
}

}  // namespace

void guard_powers(PassContext& context) {
    for (Function* function : context.module.functions)
        guard(context.module, *function);
}

}  // namespace parpy
