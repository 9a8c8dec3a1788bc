// Deep copies of expressions, statements, functions and modules.
#include "ir/clone.h"

#include "ir/visit.h"

namespace parpy::ir {
namespace {

class Cloner {
public:
    Cloner(Module& module, const Substitution& substitution)
        : module_(module), substitution_(substitution) {}

    Expr* expr(const Expr* from) {
        if (from == nullptr) {
            return nullptr;
        }
        if (from->op == Op::kVar) {
            if (auto found = substitution_.values.find(from->var);
                found != substitution_.values.end()) {
                return clone(module_, found->second);
            }
        }
        Expr* to = module_.make_expr(from->op, from->type, from->span);
        to->operands.reserve(from->operands.size());
        for (const Expr* operand : from->operands) {
            to->operands.push_back(expr(operand));
        }
        to->constant = from->constant;
        to->var = var(from->var);
        to->index = from->index;
        to->reg = from->reg;
        to->callee = function(from->callee);
        to->text = from->text;
        return to;
    }

    Body body(const Body& from) {
        Body to;
        to.reserve(from.size());
        for (const Stmt* s : from) {
            to.push_back(stmt(s));
        }
        return to;
    }

    // Copies the node, then replaces every pointer in it.
    Stmt* stmt(const Stmt* from) {
        if (from == nullptr) {
            return nullptr;
        }
        Stmt* to = shallow(*from);
        for_each_slot(*to, [&](Expr*& slot) { slot = expr(slot); });
        for_each_var(*to, [&](Var*& slot) { slot = var(slot); });
        for_each_body(*to, [&](Body& inner) { inner = body(inner); });
        if (auto* launch = to->as<Launch>()) {
            launch->kernel = function(launch->kernel);
        }
        return to;
    }

private:
    // A copy that still points to the nodes of the original.
    Stmt* shallow(const Stmt& from) {
        switch (from.kind) {
            case StmtKind::kAssign:
                return copy<Assign>(from);
            case StmtKind::kBind:
                return copy<Bind>(from);
            case StmtKind::kStore:
                return copy<Store>(from);
            case StmtKind::kFor:
                return copy<For>(from);
            case StmtKind::kWhile:
                return copy<While>(from);
            case StmtKind::kIf:
                return copy<If>(from);
            case StmtKind::kBreak:
                return copy<Break>(from);
            case StmtKind::kContinue:
                return copy<Continue>(from);
            case StmtKind::kReturn:
                return copy<Return>(from);
            case StmtKind::kEvaluate:
                return copy<Evaluate>(from);
            case StmtKind::kAssert:
                return copy<Assert>(from);
            case StmtKind::kFail:
                return copy<Fail>(from);
            case StmtKind::kPrint:
                return copy<Print>(from);
            case StmtKind::kGpu:
                return copy<Gpu>(from);
            case StmtKind::kAlloc:
                return copy<Alloc>(from);
            case StmtKind::kBarrier:
                return copy<Barrier>(from);
            case StmtKind::kLaunch:
                return copy<Launch>(from);
            case StmtKind::kFetch:
                return copy<Fetch>(from);
        }
        return nullptr;
    }

    template <class T>
    Stmt* copy(const Stmt& from) {
        return module_.copy(static_cast<const T&>(from));
    }

    Var* var(Var* from) const {
        auto found = substitution_.vars.find(from);
        return found == substitution_.vars.end() ? from : found->second;
    }

    Function* function(Function* from) const {
        auto found = substitution_.functions.find(from);
        return found == substitution_.functions.end() ? from : found->second;
    }

    Module& module_;
    const Substitution& substitution_;
};

// Gives every variable of one function a copy, in order of appearance.
class VariableCopier {
public:
    VariableCopier(Module& module, Substitution& substitution)
        : module_(module), substitution_(substitution) {}

    void function(const Function& from) {
        for (Var* param : from.params) {
            add(param);
        }
        for_each_stmt(from.body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](Var* v) { add(v); });
            for_each_slot(stmt, [&](const Expr* slot) {
                for_each_expr(*slot, [&](const Expr& e) { add(e.var); });
            });
        });
    }

private:
    Var* add(Var* from) {
        if (from == nullptr) {
            return nullptr;
        }
        if (auto found = substitution_.vars.find(from); found != substitution_.vars.end()) {
            return found->second;
        }
        Var* to = module_.make_var(from->name, from->type, from->span);
        substitution_.vars.emplace(from, to);
        *to = *from;
        for (Dim& dim : to->dims) {
            dim.extent_var = add(dim.extent_var);
            dim.stride_var = add(dim.stride_var);
        }
        return to;
    }

    Module& module_;
    Substitution& substitution_;
};

void fill_function(Module& module, const Function& from, Function& to, Substitution& substitution) {
    to.abi = from.abi;
    to.target = from.target;
    to.threads = from.threads;
    VariableCopier(module, substitution).function(from);
    for (Var* param : from.params) {
        to.params.push_back(substitution.vars.at(param));
    }
    to.result = from.result;
    to.part = from.part;
    to.given = from.given;
    to.body = Cloner(module, substitution).body(from.body);
}

}  // namespace

Expr* clone(Module& module, const Expr* expr, const Substitution& substitution) {
    return Cloner(module, substitution).expr(expr);
}

Stmt* clone(Module& module, const Stmt* stmt, const Substitution& substitution) {
    return Cloner(module, substitution).stmt(stmt);
}

Body clone(Module& module, const Body& body, const Substitution& substitution) {
    return Cloner(module, substitution).body(body);
}

Function* clone_function(Module& module, const Function& from, std::string name,
                         Substitution& substitution) {
    Function* to = module.make_function(std::move(name), from.kind, from.span);
    fill_function(module, from, *to, substitution);
    return to;
}

Module clone(const Module& from) {
    Module to;
    to.sources = from.sources;
    to.entry = from.entry;
    to.sites = from.sites;
    Substitution substitution;
    for (const Function* function : from.functions) {
        substitution.functions[function] =
            to.make_function(function->name, function->kind, function->span);
    }
    for (const Function* function : from.functions) {
        fill_function(to, *function, *substitution.functions.at(function), substitution);
    }
    return to;
}

}  // namespace parpy::ir
