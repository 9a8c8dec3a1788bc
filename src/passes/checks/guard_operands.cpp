// See guard_operands.h.
#include "passes/checks/guard_operands.h"

#include "analysis/integers/intervals.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/slices/evaluation_steps.h"

namespace parpy {

using namespace ir;

namespace {

class OperandGuards {
public:
    // `divisions`: divisions of integers by zero fail, too.
    OperandGuards(Module& module, Function& function, bool divisions)
        : b_(module), function_(function), divisions_(divisions) {}

    void run() {
        write_out_updates();
        const auto has = [&](auto&& what) { return any_expr(function_.body, what); };
        if (!has([&](const Expr& e) { return divisor(e) != nullptr || e.op == Op::kPow; })) return;
        const Intervals ranges(function_);
        const auto open = [&](const Expr& e) { return is_open(e, ranges); };
        if (!has(open)) return;
        // A call or an atomic operation may write memory that an earlier operand reads.
        const bool in_order =
            has([](const Expr& e) { return e.op == Op::kCall || e.op == Op::kAtomic; });
        const auto watch = [&](const Expr& e) {
            return open(e) || (in_order && reaches_memory(e));
        };
        const auto take = [&](const EvaluationSteps::Step& step) {
            if (open(*step.node)) {
                guard(step);
            } else if (!step.whole) {
                EvaluationSteps::hold(b_, "value", step.node, step.out);
            }
        };
        EvaluationSteps(b_, watch, take).body(function_.body);
    }

private:
    // The integer that the expression divides by, if it is guarded; null otherwise.
    [[nodiscard]] const Expr* divisor(const Expr& e) const {
        if (!divisions_) return nullptr;
        if ((e.op == Op::kFloorDiv || e.op == Op::kMod) && is_integer(e.type.scalar))
            return e.operands[1];
        // a / b of integers
        if (e.op != Op::kDiv || e.operands[1]->op != Op::kConvert) return nullptr;
        const Expr* converted = e.operands[1]->operands[0];
        return is_integer(converted->type.scalar) ? converted : nullptr;
    }

    // Whether the exponent may be negative, or the divisor zero.
    [[nodiscard]] bool is_open(const Expr& e, const Intervals& ranges) const {
        if (const Expr* by = divisor(e)) {
            const Interval range = ranges.of(by);
            return range.low <= 0 && range.high >= 0;
        }
        if (e.op != Op::kPow || !is_signed_integer(e.type.scalar)) return false;
        if (const auto constant = constant_integer(e.operands[1])) return *constant < 0;
        return ranges.of(e.operands[1]).low < 0;
    }

    [[nodiscard]] bool is_guarded(std::optional<Op> update) const {
        return update == Op::kPow ||
               (divisions_ && (update == Op::kFloorDiv || update == Op::kMod));
    }

    [[nodiscard]] bool is_update(const Stmt& stmt) const {
        const auto* assign = stmt.as<Assign>();
        const auto* store = stmt.as<Store>();
        return (assign != nullptr && is_guarded(assign->update)) ||
               (store != nullptr && is_guarded(store->update) && !store->atomic);
    }

    // Rewrites `x **= k` as a plain assignment.
    void write_out_updates() {
        rewrite_stmts(function_.body, [&](Stmt* stmt, Body& out) {
            if (is_update(*stmt)) {
                b_.span = stmt->span;
                if (auto* assign = stmt->as<Assign>()) {
                    assign->value = b_.updated(b_.var(assign->var), *assign->update, assign->value);
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
        store.value = b_.updated(old, *store.update, store.value);
        store.update.reset();
    }

    void guard(const EvaluationSteps::Step& step) {
        const bool power = step.node->op == Op::kPow;
        Expr*& operand = step.node->op == Op::kDiv ? step.node->operands[1]->operands[0]
                                                   : step.node->operands[1];
        if (operand->op != Op::kVar)
            EvaluationSteps::hold(b_, power ? "exponent" : "divisor", operand, step.out);
        const Span statement = b_.span;
        if (step.node->span.valid()) b_.span = step.node->span;
        step.out.push_back(power ? negative_exponent(*operand, step.loops)
                                 : zero_divisor(*operand, step.loops));
        b_.span = statement;
        for (For* loop : step.loops)  // a lane cannot leave its loop
            if (loop->mapping.level == Level::kVector) loop->mapping = {};
    }

    If* negative_exponent(const Expr& exponent, const LoopStack& loops) {
        const auto copy = [&] { return clone(b_.module(), &exponent); };
        FailBuilder fail(b_, Code::kP426);
        fail.site().message = "an integer cannot be raised to the negative power " +
                              fail.value(b_.convert(copy(), Scalar::kI64));
        fail.site().help = "make the base a float: float(…) ** …";
        fail.note_iterations(loops);
        Expr* negative = b_.binary(Op::kLt, copy(), b_.integer(0, exponent.type.scalar));
        return b_.if_(negative, {fail.make()});
    }

    If* zero_divisor(const Expr& divisor, const LoopStack& loops) {
        FailBuilder fail(b_, Code::kP429);
        fail.site().message = "an integer is divided by zero";
        fail.site().help = "without debug=True the quotient is 0, as in NumPy";
        fail.note_iterations(loops);
        Expr* zero =
            b_.binary(Op::kEq, clone(b_.module(), &divisor), b_.integer(0, divisor.type.scalar));
        return b_.if_(zero, {fail.make()});
    }

    Builder b_;
    Function& function_;
    const bool divisions_;
};

}  // namespace

void guard_operands(PassContext& context) {
    const bool divisions =
        context.options.check != Check::kNothing && is_by_hand(*context.module.entry_function());
    for (Function* function : context.module.functions)
        OperandGuards(context.module, *function, divisions).run();
}

}  // namespace parpy
