// Follows the values that come from the arguments through the function, before its types are known.
#include "passes/types/infer_types/elements.h"

#include <algorithm>

#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the operator gives the same result for a single element and for one in an array.
bool is_for_elements(const Expr& e) {
    switch (e.op) {
        case Op::kConst:
        case Op::kVar:
        case Op::kConvert:
        case Op::kPyInt:
        case Op::kPyIndex:
        case Op::kPyFloat:
        case Op::kPyBool:
        case Op::kNumpy:
        case Op::kRound:
        case Op::kAnd:
        case Op::kOr:
        case Op::kSelect:
        case Op::kBackendIs:
        case Op::kTypesEqual:
        case Op::kConvertLike:
            return true;
        case Op::kCall:
            return e.index == 0;
        default:
            return rule(e.op) != TypeRule::kSpecial && rule(e.op) != TypeRule::kLeaf &&
                   !has_effects(e.op) && !is_of_slices(e.op);
    }
}

bool may_stand(const Stmt& stmt) {
    switch (stmt.kind) {
        case StmtKind::kAssign:
        case StmtKind::kFor:
        case StmtKind::kWhile:
        case StmtKind::kIf:
        case StmtKind::kBreak:
        case StmtKind::kContinue:
        case StmtKind::kReturn:
        case StmtKind::kFail:
            return true;
        default:
            return false;
    }
}

bool gives_number(const Function& function, std::unordered_set<const Function*>& open) {
    if (function.kind == FunctionKind::kForeign) {
        return std::ranges::none_of(function.params,
                                    [](const Var* param) { return param->type.is_array(); });
    }
    if (!open.insert(&function).second) return true;
    return !any_stmt(function.body, [](const Stmt& stmt) { return !may_stand(stmt); }) &&
           !any_expr(function.body, [&](const Expr& e) {
               return !is_for_elements(e) || (e.op == Op::kCall && !gives_number(*e.callee, open));
           });
}

// Follows values that come from the arguments at `arrays` through a function of numbers.
class Follower {
public:
    Follower(const Module& module, const Function& function, const std::vector<bool>& arrays)
        : module_(module), function_(function) {
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            if (!arrays[i]) continue;
            given_.push_back(function.params[i]);
            from_arrays_.insert(function.params[i]);
            same_.insert(function.params[i]);
        }
        for (std::size_t before = 0; before != from_arrays_.size() + same_.size();) {
            before = from_arrays_.size() + same_.size();
            for_each_stmt(function_.body, [&](const Stmt& stmt) { follow(stmt); });
        }
    }

    // Whether annotations declare all of them as numbers.
    [[nodiscard]] bool are_declared() const {
        return std::ranges::all_of(given_, [&](const Var* param) {
            return std::ranges::any_of(function_.body, [&](const Stmt* stmt) {
                return is_declared_check(module_, *stmt) && asks_for_number(*stmt) &&
                       any_expr(*stmt->as<If>()->condition,
                                [&](const Expr& e) { return e.op == Op::kVar && e.var == param; });
            });
        });
    }

    // Whether the control flow depends on elements of arrays.
    [[nodiscard]] bool decide() const {
        const auto varies = [&](const Expr* e) { return e != nullptr && comes_from_arrays(*e); };
        return any_stmt(function_.body,
                        [&](const Stmt& stmt) {
                            if (is_declared_check(module_, stmt)) return false;
                            if (const auto* branch = stmt.as<If>())
                                return varies(branch->condition);
                            if (const auto* loop = stmt.as<While>()) return varies(loop->condition);
                            const auto* loop = stmt.as<For>();
                            return loop != nullptr &&
                                   (varies(loop->begin) || varies(loop->end) || varies(loop->step));
                        }) ||
               any_expr(function_.body, [&](const Expr& e) {
                   return (e.op == Op::kAnd || e.op == Op::kOr) && varies(e.operands[0]);
               });
    }

    // Whether an argument itself is returned, or changed in place, if it is an array.
    [[nodiscard]] bool are_kept() const {
        return any_stmt(function_.body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            const auto* result = stmt.as<Return>();
            return (assign != nullptr && assign->update && same_.contains(assign->var)) ||
                   (result != nullptr && result->value != nullptr && is_same(*result->value));
        });
    }

private:
    // Whether the value differs from element to element.
    [[nodiscard]] bool comes_from_arrays(const Expr& e) const {
        if (e.op == Op::kTypesEqual || e.op == Op::kBackendIs) return false;
        if (e.op == Op::kConvertLike) return comes_from_arrays(*e.operands[0]);
        if (e.op == Op::kVar) return from_arrays_.contains(e.var);
        return std::ranges::any_of(e.operands,
                                   [&](const Expr* each) { return comes_from_arrays(*each); });
    }

    // Whether it may be one of the arguments itself.
    [[nodiscard]] bool is_same(const Expr& e) const {
        if (e.op == Op::kVar) return same_.contains(e.var);
        if (e.op == Op::kSelect && !comes_from_arrays(*e.operands[0]))
            return is_same(*e.operands[1]) || is_same(*e.operands[2]);
        const bool one = e.op == Op::kAnd || e.op == Op::kOr || e.op == Op::kNumpy ||
                         e.op == Op::kCall || e.op == Op::kConvert;
        return one &&
               std::ranges::any_of(e.operands, [&](const Expr* each) { return is_same(*each); });
    }

    void follow(const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        if (assign != nullptr && comes_from_arrays(*assign->value))
            from_arrays_.insert(assign->var);
        if (assign != nullptr && !assign->update && is_same(*assign->value))
            same_.insert(assign->var);
    }

    const Module& module_;
    const Function& function_;
    std::vector<const Var*> given_;
    std::unordered_set<const Var*> from_arrays_;  // with values that differ by element
    std::unordered_set<const Var*> same_;         // that may be an argument itself
};

}  // namespace

bool ElementFunctions::computes_numbers(const Function& callee) {
    const auto [at, fresh] = computes_numbers_.try_emplace(&callee, false);
    if (fresh) {
        std::unordered_set<const Function*> open;
        at->second = gives_number(callee, open);
    }
    return at->second;
}

ElementFunctions::Way ElementFunctions::way(const Function& callee,
                                            const std::vector<bool>& arrays) {
    if (arrays.size() != callee.params.size() || !computes_numbers(callee)) return Way::kOnce;
    const auto [at, fresh] = ways_.try_emplace({&callee, arrays}, Way::kEach);
    if (fresh && callee.kind != FunctionKind::kForeign) {
        const Follower follower(module_, callee, arrays);
        if (!follower.decide())
            at->second =
                follower.are_declared() || !follower.are_kept() ? Way::kEither : Way::kOnce;
    }
    return at->second;
}

bool ElementFunctions::acts(const Expr& expr) const {
    return any_expr(expr, [&](const Expr& e) {
        return has_effects(e.op) && !(e.op == Op::kCall && known_.contains(e.callee));
    });
}

}  // namespace parpy
