// Takes statements apart in the order in which Python evaluates them, so that what a pass puts in
// front of a step runs exactly when the step does: parts of `and`, `or` and conditional expressions
// that may not be evaluated become branches, and conditions of while loops part of their bodies.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/ops.h"
#include "passes/checks/check_sites.h"

namespace parpy {

// A load of an element, an atomic update or a call: what it gives depends on what was evaluated
// before.
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
    // The node is a step, or must not be passed over by one.
    using Watch = std::function<bool(const ir::Expr&)>;
    // What becomes of a watched node whose operands have been taken apart.
    struct Step {
        ir::Expr*& node;
        ir::Body& out;           // receives what comes first
        bool whole;              // it is all of the value of an assignment or evaluation
        const LoopStack& loops;  // around it, outermost first
    };
    using Take = std::function<void(const Step&)>;

    EvaluationSteps(ir::Builder& builder, Watch watch, Take take)
        : b_(builder), watch_(std::move(watch)), take_(std::move(take)) {}

    // The subscripts of a reduced element stay as the loop's mapping has them; the steps in them
    // are made once more in front.
    void body(ir::Body& stmts);

    // A variable with the value of `expr`, in its place.
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
    std::unordered_map<const ir::Expr*, bool> watched_;  // contains what is watched
};

}  // namespace parpy
