// Finds the arrays that the calls of each statement write, and holds the operands that must be
// evaluated before them (order_calls.h).
#include "passes/slices/order_calls.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/evaluation_steps.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the value is an array rather than one number.
bool is_array_valued(const Expr& e) {
    const bool whole = e.op == Op::kReduce && e.operands.size() == 1;
    return !whole && (is_of_slices(e.op) || std::ranges::any_of(e.operands, [](const Expr* each) {
                          return is_array_valued(*each);
                      }));
}

class CallOrder {
public:
    CallOrder(PassContext& context, Function& function)
        : b_(context.module), diagnostics_(context.diagnostics), function_(function) {}

    void run() {
        for_each_stmt(function_.body, [&](const Stmt& stmt) { note(stmt); });
        if (held_.empty() || diagnostics_.has_errors()) return;
        const auto watch = [&](const Expr& e) { return held_.contains(&e); };
        const auto take = [&](const EvaluationSteps::Step& step) {
            if (!step.whole && !is_array_valued(*step.node) && step.node->type.is_scalar())
                EvaluationSteps::hold(b_, "value", step.node, step.out);
        };
        EvaluationSteps(b_, watch, take).body(function_.body);
    }

private:
    // Notes the expressions of the statement whose order of evaluation matters.
    void note(const Stmt& stmt) {
        std::unordered_set<const Var*> written;
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                for_each_written_array(e, [&](const Var& array) { written.insert(&array); });
            });
        });
        if (written.empty()) return;
        const auto depends = [&](const Var* array) {
            return array != nullptr && std::ranges::any_of(written, [&](const Var* other) {
                       return may_share(*array, *other);
                   });
        };
        std::vector<const Expr*> found;
        const Expr* computed = nullptr;
        for_each_slot(stmt, [&](const Expr* slot) {
            find(*slot, depends, found);
            refuse(*slot, depends, computed);
        });
        const auto* store = stmt.as<Store>();
        const bool updates = store != nullptr && store->update && depends(store->array);
        if (found.size() > 1 || updates) held_.insert(found.begin(), found.end());
    }

    // Finds nodes that read or pass on an array for which `depends` holds. Choices that are made
    // for each element of a slice are left alone.
    template <class Depends>
    static void find(const Expr& e, const Depends& depends, std::vector<const Expr*>& found) {
        const bool chooses = e.op == Op::kSelect || e.op == Op::kAnd || e.op == Op::kOr;
        if (chooses && is_array_valued(e)) return;
        const bool reads = (e.op == Op::kLoad && !is_row(e)) || e.op == Op::kAtomic;
        const bool passes = e.op == Op::kCall || e.op == Op::kReduce;
        if ((reads && depends(e.var)) ||
            (passes && any_expr(e, [&](const Expr& part) { return depends(part.var); }))) {
            found.push_back(&e);
        }
        for (const Expr* operand : e.operands)
            find(*operand, depends, found);
    }

    // Elements of slices are computed in the loops that the statement becomes, behind its calls.
    // NumPy, too, reads a plain slice only then, as it is a view.
    template <class Depends>
    void refuse(const Expr& e, const Depends& depends, const Expr*& computed) {
        for (const Expr* operand : e.operands)
            refuse(*operand, depends, computed);
        const bool view =
            e.op == Op::kLoad || e.op == Op::kConvert || e.op == Op::kSlice || e.op == Op::kNewAxis;
        const bool reads = any_expr(e, [&](const Expr& part) { return depends(part.var); });
        if (!view && is_array_valued(e)) {
            if (reads) computed = &e;
            return;
        }
        bool writes = false;
        for_each_written_array(e, [&](const Var&) { writes = true; });
        if (!writes || computed == nullptr) return;
        auto& error = diagnostics_.error(
            Code::kP219, e.span, "this call writes an array that slices before it have read");
        error.notes.push_back({computed->span, "the slices are read here"});
        error.help = "assign the value of the call to a variable on a line of its own";
        computed = nullptr;
    }

    Builder b_;
    Diagnostics& diagnostics_;
    Function& function_;
    std::unordered_set<const Expr*> held_;
};

}  // namespace

void order_calls(PassContext& context) {
    for (Function* function : context.module.functions)
        CallOrder(context, *function).run();
}

}  // namespace parpy
