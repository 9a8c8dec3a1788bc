// Finds the subscripts of each loop that are monotone in its variable (simplify_signs.h).
#include "passes/cpu/simplify_signs.h"

#include <algorithm>
#include <vector>

#include "analysis/integers/trend.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class LoopSigns {
public:
    LoopSigns(Module& module, For& loop) : module_(module), loop_(loop), uses_(uses_of(loop.body)) {
        step_ = constant_integer(loop.step).value_or(0);
    }

    // The statement that sets the condition, or null if no subscript of the loop needs it.
    Assign* run() {
        if (step_ == 0 || uses_.written.contains(loop_.var)) {
            return nullptr;
        }
        for_each_expr(loop_.body, [&](Expr& expr) { collect(expr); });
        if (found_.empty()) {
            return nullptr;
        }
        Builder b(module_, loop_.span);
        Expr* condition = nullptr;
        for (Expr* smallest : smallest_) {
            Expr* negative = b.binary(Op::kLt, smallest, b.integer(0, smallest->type.scalar));
            condition = condition == nullptr ? negative : b.binary(Op::kOr, condition, negative);
        }
        Var* flag = b.scalar(loop_.var->name + "_negative", Scalar::kBool);
        for (Expr* index : found_) {
            b.span = index->span;
            Expr* again =
                module_.make_expr(Op::kIndex, index->type, index->span, std::move(index->operands));
            index->op = Op::kSelect;
            index->operands = {b.var(flag), again, clone(module_, again->operands[0])};
        }
        b.span = loop_.span;
        return b.assign(flag, condition);
    }

private:
    void collect(Expr& expr) {
        if (expr.op != Op::kIndex) {
            return;
        }
        // A load is excluded: it may be out of bounds before the loop.
        const Trend trend = trend_of(*expr.operands[0], *loop_.var, uses_);
        if (trend != Trend::kGrows && trend != Trend::kFalls) {
            return;
        }
        const bool at_first = (trend == Trend::kGrows) == (step_ > 0);
        if (!at_first && step_ != 1 && step_ != -1) {
            return;  // the last value would need a division
        }
        found_.push_back(&expr);
        Builder b(module_, expr.span);
        const Scalar scalar = loop_.var->type.scalar;
        Expr* extreme = clone(module_, at_first ? loop_.begin : loop_.end);
        if (!at_first) {
            extreme = b.binary(step_ > 0 ? Op::kSub : Op::kAdd, extreme, b.integer(1, scalar));
        }
        Substitution substitution;
        substitution.values.emplace(loop_.var, extreme);
        Expr* smallest = clone(module_, expr.operands[0], substitution);
        if (std::ranges::none_of(smallest_, [&](const Expr* e) { return same(*e, *smallest); })) {
            smallest_.push_back(smallest);
        }
    }

    Module& module_;
    For& loop_;
    const Uses uses_;
    std::int64_t step_ = 0;
    std::vector<Expr*> found_;     // kIndex nodes
    std::vector<Expr*> smallest_;  // their smallest values in the loop, each once
};

}  // namespace

void simplify_signs(PassContext& context) {
    for (Function* function : context.module.functions) {
        rewrite_stmts(function->body, [&](Stmt* stmt, Body& out) {
            if (auto* loop = stmt->as<For>()) {
                if (Assign* condition = LoopSigns(context.module, *loop).run()) {
                    out.push_back(condition);
                }
            }
            out.push_back(stmt);
        });
    }
}

}  // namespace parpy
