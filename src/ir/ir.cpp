// Module: the owner of all nodes of one program.
#include "ir/ir.h"

namespace parpy::ir {

Var* Module::make_var(std::string name, Type type, Span span) {
    Var& var = vars_.emplace_back();
    var.name = std::move(name);
    var.type = type;
    var.span = span;
    return &var;
}

Var* Module::make_like(const Var& var) {
    Var* made = make_var(var.name, var.type, var.span);
    made->user_name = var.user_name;
    return made;
}

Function* Module::make_function(std::string name, FunctionKind kind, Span span) {
    auto function = std::make_unique<Function>();
    function->name = std::move(name);
    function->kind = kind;
    function->span = span;
    functions.push_back(function.get());
    owned_functions_.push_back(std::move(function));
    return functions.back();
}

Expr* Module::make_expr(Op op, Type type, Span span, std::vector<Expr*> operands) {
    Expr& expr = exprs_.emplace_back();
    expr.op = op;
    expr.type = type;
    expr.span = span;
    expr.operands = std::move(operands);
    return &expr;
}

}  // namespace parpy::ir
