// Splits statements into steps in Python's order of evaluation, so that statements that a pass
// inserts before a step run exactly when the step does: parts of `and`, `or` and conditional
// expressions that may not be evaluated become branches, and conditions of while loops parts of
// their bodies.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/ops.h"
#include "passes/checks/check_sites.h"

namespace parpy {

// Whether the node is a load of an element, an atomic update or a call: its value depends on
// earlier steps.
[[nodiscard]] bool reaches_memory(const ir::Expr& node);

// fn(array) for each array that evaluating the node itself, its operands aside, may write.
template <class F>
void for_each_written_array(const ir::Expr& node, const F& fn) {
    if (node.op == ir::Op::kAtomic) fn(*node.var);
    if (node.op != ir::Op::kCall) return;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const ir::Expr& operand = *node.operands[i];
        const bool foreign = node.callee->kind == ir::FunctionKind::kForeign;
        const ir::Var* array = ir::array_passed(operand);
        if (array != nullptr && (foreign || node.callee->params.at(i)->written)) fn(*array);
    }
}

class EvaluationSteps {
public:
    // Whether the node is a step, or must keep its order with the steps.
    using Watch = std::function<bool(const ir::Expr&)>;
    // A watched node whose operands have been split off.
    struct Step {
        ir::Expr*& node;
        ir::Body& out;           // gets the statements that precede the step
        bool whole;              // the node is the whole value of an assignment or evaluation
        const LoopStack& loops;  // around it, outermost first
    };
    using Take = std::function<void(const Step&)>;

    EvaluationSteps(ir::Builder& builder, Watch watch, Take take)
        : b_(builder), watch_(std::move(watch)), take_(std::move(take)) {}

    // Splits the statements. The subscripts of a reduced element stay as the loop's mapping has
    // them; the steps in them are repeated before it.
    void body(ir::Body& stmts);

    // Replaces `expr` by a variable, which `out` assigns.
    static void hold(ir::Builder& builder, std::string name, ir::Expr*& expr, ir::Body& out);

private:
    void visit(ir::Stmt& stmt, ir::Body& out);
    void condition(ir::While& loop);
    void subscripts(ir::Store& store, ir::Body& out);
    [[nodiscard]] bool is_reduced(const ir::Store& store) const;
    void update(ir::Store& store, ir::Body& out);
    [[nodiscard]] bool watched(const ir::Expr& expr);
    void split(ir::Expr*& expr, ir::Body& out, bool whole = false);
    void split_logical(ir::Expr*& expr, ir::Body& out);
    void split_select(ir::Expr*& expr, ir::Body& out);

    ir::Builder& b_;
    Watch watch_;
    Take take_;
    LoopStack loops_;
    std::unordered_map<const ir::Expr*, bool> watched_;  // whether it contains a watched node
};

}  // namespace parpy
