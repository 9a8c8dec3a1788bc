// Chooses the variables first, then rewrites their uses (narrow_indices.h).
#include "passes/cuda/narrow_indices.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

const Interval kI32 = Interval::of_type(Scalar::kI32);

bool is_i64(const Type& type) {
    return type.is(Scalar::kI64);
}

class Narrower {
public:
    Narrower(Module& module, Function& function)
        : module_(module), function_(function), intervals_(function) {}

    // Runs for all functions before the first is rewritten, as calls depend on the parameters of
    // others.
    void choose() {
        choose_variables();
        choose_sizes();
        for (Var* var : narrow_)
            var->type = Type::of(Scalar::kI32);
    }

    void rewrite() { rewrite_body(function_.body); }

private:
    // ------------------------------------------------------------ which variables

    void choose_variables() {
        std::unordered_set<Var*> loops, refused;
        std::unordered_set<const Var*> subscripts;
        std::vector<Var*> candidates;
        refused.insert(function_.params.begin(), function_.params.end());
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            if (auto* loop = stmt.as<For>()) {
                candidates.push_back(loop->var);
                loops.insert(loop->var);
                if (!counts_in_32_bits(*loop)) {
                    refused.insert(loop->var);
                }
                note_variables(*loop->begin, subscripts);
                note_variables(*loop->end, subscripts);
            } else if (auto* assignment = stmt.as<Assign>()) {
                candidates.push_back(assignment->var);
                if (assignment->update || !fits(assignment->value)) {
                    refused.insert(assignment->var);
                }
            } else if (auto* store = stmt.as<Store>()) {
                for (const Expr* index : store->indices) {
                    note_variables(*index, subscripts);
                }
            } else if (auto* launch = stmt.as<Launch>(); launch && launch->chunks) {
                refused.insert(launch->chunks);
            }
            if (auto* loop = stmt.as<For>()) {
                for (const Reduction& reduction : loop->mapping.reductions) {
                    refused.insert(reduction.var);
                }
            }
        });
        for_each_expr(function_.body, [&](Expr& expr) {
            if (expr.op == Op::kLoad) {
                for (const Expr* index : expr.operands) {
                    note_variables(*index, subscripts);
                }
            }
        });
        for (Var* var : candidates) {
            const bool wanted = loops.contains(var) || subscripts.contains(var);
            if (is_i64(var->type) && wanted && !refused.contains(var)) {
                narrow_.insert(var);
            }
        }
    }

    // Chooses layout parameters of small arrays. Sizes of scratch memory are products of them.
    void choose_sizes() {
        std::unordered_set<const Var*> products;
        for_each_stmt(function_.body, [&](const Stmt& stmt) {
            if (const auto* alloc = stmt.as<Alloc>()) {
                for (const Dim& dim : alloc->array->dims)
                    products.insert({dim.extent_var, dim.stride_var});
            }
        });
        for (const Var* param : function_.params) {
            for (const Dim& dim : param->dims) {
                for (Var* var : {dim.extent_var, dim.stride_var}) {
                    if (var != nullptr && is_i64(var->type) && var->limit != 0 &&
                        var->limit <= kI32.high && !products.contains(var)) {
                        narrow_.insert(var);
                    }
                }
            }
        }
    }

    static void note_variables(const Expr& root, std::unordered_set<const Var*>& out) {
        for_each_expr(root, [&](const Expr& expr) {
            if (expr.op == Op::kVar) {
                out.insert(expr.var);
            }
        });
    }

    // The variable is incremented once beyond its last value.
    bool counts_in_32_bits(const For& loop) {
        if (!is_i64(loop.var->type) || !fits(loop.begin) || !fits(loop.end) || !fits(loop.step)) {
            return false;
        }
        const Interval values = intervals_.of(loop.var), step = intervals_.of(loop.step);
        if (values.empty()) {
            return true;
        }
        return values.high <= kI32.high - std::max<std::int64_t>(step.high, 0) &&
               values.low >= kI32.low - std::min<std::int64_t>(step.low, 0);
    }

    bool fits(const Expr* expr) const {
        return is_i64(expr->type) && intervals_.of(expr).within(kI32);
    }

    // ------------------------------------------------------------ rewriting

    void rewrite_body(Body& body) {
        for_each_stmt(body, [&](Stmt& stmt) {
            if (auto* loop = stmt.as<For>()) {
                const bool narrow = narrow_.contains(loop->var);
                for (Expr** bound : {&loop->begin, &loop->end, &loop->step}) {
                    if (narrow) {
                        *bound = to_i32(*bound);
                    } else {
                        data(*bound);
                    }
                }
                // These must stay equal to the subscripts of the updates.
                for (Reduction& reduction : loop->mapping.reductions) {
                    subscripts(reduction.indices);
                }
                return;
            }
            if (auto* assignment = stmt.as<Assign>();
                assignment && narrow_.contains(assignment->var)) {
                assignment->value = to_i32(assignment->value);
                return;
            }
            if (auto* store = stmt.as<Store>()) {
                subscripts(store->indices);
                data(store->value);
                return;
            }
            if (auto* fail = stmt.as<Fail>()) {
                for (Expr*& value : fail->values)
                    reported(value);
                return;
            }
            for_each_slot(stmt, [&](Expr*& slot) { data(slot); });
        });
    }

    // Narrowed like the preceding test, so that the value is computed only there.
    void reported(Expr*& value) {
        if (is_i64(value->type) && can_narrow(*value)) {
            value = Builder(module_, value->span).convert(to_i32(value), Scalar::kI64);
        } else {
            data(value);
        }
    }

    void subscripts(std::vector<Expr*>& indices) {
        for (Expr*& index : indices) {
            if (is_i64(index->type) && can_narrow(*index)) {
                index = to_i32(index);
            } else {
                data(index);
            }
        }
    }

    // Rewrites an expression that keeps its type: narrowed variables in it are widened again.
    void data(Expr*& slot) {
        if (slot->op == Op::kVar) {
            if (narrow_.contains(slot->var)) {
                slot = Builder(module_, slot->span).convert(variable(slot), Scalar::kI64);
            }
            return;
        }
        if (slot->op == Op::kLoad) {
            subscripts(slot->operands);
            return;
        }
        if (slot->op == Op::kCall && slot->callee->params.size() == slot->operands.size()) {
            for (std::size_t i = 0; i < slot->operands.size(); ++i) {
                const Var* param = slot->callee->params[i];
                Expr*& operand = slot->operands[i];
                if (param->type.is(Scalar::kI32) && is_i64(operand->type)) {
                    operand = to_i32(operand);
                } else {
                    data(operand);
                }
            }
            return;
        }
        if (is_comparison(slot->op) && is_i64(slot->operands[0]->type) &&
            can_narrow(*slot->operands[0]) && can_narrow(*slot->operands[1])) {
            for (Expr*& operand : slot->operands) {
                operand = to_i32(operand);
            }
            return;
        }
        const bool from_index = slot->op == Op::kConvert && is_i64(slot->operands[0]->type) &&
                                can_narrow(*slot->operands[0]);
        if (from_index) {  // the same value from 32 bits
            slot->operands[0] = to_i32(slot->operands[0]);
            return;
        }
        for (Expr*& operand : slot->operands) {
            data(operand);
        }
    }

    Expr* variable(Expr* expr) {
        expr->type = expr->var->type;
        return expr;
    }

    // Whether `expr` can be computed in i32 as a whole, and gains by it: its operands are narrowed
    // variables, constants and smaller integers.
    bool can_narrow(const Expr& expr) const {
        if (!is_i64(expr.type) || !intervals_.of(&expr).within(kI32)) {
            return false;
        }
        switch (expr.op) {
            case Op::kConst:
                return true;
            case Op::kVar:
                return narrow_.contains(expr.var);
            case Op::kConvert: {
                const Type& from = expr.operands[0]->type;
                return from.is_scalar() && is_integer(from.scalar) &&
                       Interval::of_type(from.scalar).within(kI32);
            }
            case Op::kSelect:
                return can_narrow(*expr.operands[1]) && can_narrow(*expr.operands[2]);
            case Op::kAdd:
            case Op::kSub:
            case Op::kMul:
            case Op::kFloorDiv:
            case Op::kMod:
            case Op::kQuotient:
            case Op::kRemainder:
            case Op::kNeg:
            case Op::kPos:
            case Op::kAbs:
            case Op::kMin:
            case Op::kMax:
            case Op::kMinimum:
            case Op::kMaximum:
            case Op::kBitAnd:
            case Op::kBitOr:
            case Op::kBitXor:
            case Op::kShr:
            case Op::kIndex:
            case Op::kSquare:
                return std::ranges::all_of(expr.operands,
                                           [&](const Expr* e) { return can_narrow(*e); });
            default:
                return false;
        }
    }

    Expr* to_i32(Expr* expr) {
        Builder b(module_, expr->span);
        if (!can_narrow(*expr)) {
            data(expr);
            return b.convert(expr, Scalar::kI32);
        }
        switch (expr->op) {
            case Op::kConst:
                return b.constant(Type::of(Scalar::kI32), expr->constant);
            case Op::kVar:
                return variable(expr);
            case Op::kConvert:
                data(expr->operands[0]);
                return b.convert(expr->operands[0], Scalar::kI32);
            case Op::kSelect:
                data(expr->operands[0]);
                expr->operands[1] = to_i32(expr->operands[1]);
                expr->operands[2] = to_i32(expr->operands[2]);
                break;
            default:
                for (Expr*& operand : expr->operands) {
                    operand = to_i32(operand);
                }
                break;
        }
        expr->type = Type::of(Scalar::kI32);
        return expr;
    }

    Module& module_;
    Function& function_;
    const Intervals intervals_;
    std::unordered_set<Var*> narrow_;
};

}  // namespace

void narrow_indices(PassContext& context) {
    std::vector<Narrower> narrowers;
    for (Function* function : context.module.functions)
        narrowers.emplace_back(context.module, *function).choose();
    for (Narrower& each : narrowers)
        each.rewrite();
}

}  // namespace parpy
