// See guard_powers.h.
#include "passes/guard_powers.h"

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

class PowerGuards {
public:
    PowerGuards(Module& module, Function& function) : b_(module), function_(function) {}

    void run() {
        write_out_updates();
        const auto has = [&](auto&& what) { return any_expr(function_.body, what); };
        if (!has([](const Expr& e) { return e.op == Op::kPow; })) return;
        const Intervals ranges(function_);
        const auto open = [&](const Expr& e) { return is_open(e, ranges); };
        if (!has(open)) return;
        // A call or an atomic operation may write what is read in front of it.
        const bool in_order =
            has([](const Expr& e) { return e.op == Op::kCall || e.op == Op::kAtomic; });
        const auto watch = [&](const Expr& e) {
            return open(e) || (in_order && reaches_memory(e));
        };
        const auto take = [&](const EvaluationSteps::Step& step) {
            if (step.node->op == Op::kPow) {
                guard(step);
            } else if (!step.whole) {
                EvaluationSteps::hold(b_, "value", step.node, step.out);
            }
        };
        EvaluationSteps(b_, watch, take).body(function_.body);
    }

private:
    // The exponent may be negative.
    static bool is_open(const Expr& e, const Intervals& ranges) {
        if (e.op != Op::kPow || !is_signed_integer(e.type.scalar)) return false;
        if (const auto constant = constant_integer(e.operands[1])) return *constant < 0;
        return ranges.of(e.operands[1]).low < 0;
    }

    static bool is_update(const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        const auto* store = stmt.as<Store>();
        return (assign != nullptr && assign->update == Op::kPow) ||
               (store != nullptr && store->update == Op::kPow && !store->atomic);
    }

    // x **= k
    void write_out_updates() {
        rewrite_stmts(function_.body, [&](Stmt* stmt, Body& out) {
            if (is_update(*stmt)) {
                b_.span = stmt->span;
                if (auto* assign = stmt->as<Assign>()) {
                    assign->value = b_.updated(b_.var(assign->var), Op::kPow, assign->value);
                    assign->update.reset();
                } else {
                    write_out(*stmt->as<Store>(), out);
                }
            }
            out.push_back(stmt);
        });
    }

    void write_out(Store& store, Body& out) {
        std::vector<Expr*> indices;
        for (Expr*& index : store.indices) {
            if (uses_of(*index).calls) EvaluationSteps::hold(b_, "index", index, out);
            indices.push_back(clone(b_.module(), index));
        }
        Expr* old = b_.load(store.array, std::move(indices));
        store.value = b_.updated(old, Op::kPow, store.value);
        store.update.reset();
    }

    void guard(const EvaluationSteps::Step& step) {
        Expr*& exponent = step.node->operands[1];
        if (exponent->op != Op::kVar) EvaluationSteps::hold(b_, "exponent", exponent, step.out);
        const Span statement = b_.span;
        if (step.node->span.valid()) b_.span = step.node->span;
        step.out.push_back(test(*exponent, step.loops));
        b_.span = statement;
        for (For* loop : step.loops)  // a lane cannot leave its loop
            if (loop->mapping.level == Level::kVector) loop->mapping = {};
    }

    If* test(const Expr& exponent, const LoopStack& loops) {
        const auto copy = [&] { return clone(b_.module(), &exponent); };
        FailBuilder fail(b_, Code::kP426);
        fail.site().message = "an integer cannot be raised to the negative power " +
                              fail.value(b_.convert(copy(), Scalar::kI64));
        fail.site().help = "make the base a float: float(…) ** …";
        fail.note_iterations(loops);
        Expr* negative = b_.binary(Op::kLt, copy(), b_.integer(0, exponent.type.scalar));
        return b_.if_(negative, {fail.make()});
    }

    Builder b_;
    Function& function_;
};

}  // namespace

void guard_powers(PassContext& context) {
    for (Function* function : context.module.functions)
        PowerGuards(context.module, *function).run();
}

}  // namespace parpy
