// One forward walk per function: expressions bottom-up, then the statements that became trivial.
#include "passes/loops/fold_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/updates.h"
#include "ir/builder.h"
#include "ir/eval/ops.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_const(const Expr* expr) {
    return expr->op == Op::kConst;
}

std::optional<bool> truth_of(const Expr* expr) {
    const bool* flag = is_const(expr) ? std::get_if<bool>(&expr->constant.value) : nullptr;
    return flag != nullptr ? std::optional<bool>(*flag) : std::nullopt;
}

bool is_integer_value(const Expr* expr, std::int64_t value) {
    const auto* constant = std::get_if<std::int64_t>(&expr->constant.value);
    return is_const(expr) && constant != nullptr && *constant == value;
}

// Whether it is the float `value`, including its sign.
bool is_real_value(const Expr* expr, double value) {
    const auto* constant = std::get_if<double>(&expr->constant.value);
    return is_const(expr) && constant != nullptr && *constant == value &&
           std::signbit(*constant) == std::signbit(value);
}

bool is_one(const Expr* expr) {
    return is_integer_value(expr, 1) || is_real_value(expr, 1.0);
}

// Whether every value of `from` is exactly a value of `to`.
bool embeds(Scalar from, Scalar to) {
    const auto bits = [](Scalar s) { return 8 * size_in_bytes(s); };
    if (from == to || from == Scalar::kBool) {
        return true;
    }
    if (is_integer(from) && is_integer(to)) {
        return is_signed_integer(from) == is_signed_integer(to)
                   ? bits(from) <= bits(to)
                   : is_unsigned_integer(from) && bits(from) < bits(to);
    }
    if (is_integer(from) && (to == Scalar::kF64 || to == Scalar::kF32)) {
        return bits(from) <= (to == Scalar::kF64 ? 32 : 16);
    }
    if (is_float(from) && is_float(to)) {
        return bits(from) < bits(to);  // f16 and bf16 into the wider ones
    }
    return false;
}

class Folder {
public:
    // `checks`: loads are checked at run time, so that none is dropped. `settled`: values folded at
    // compile time have the same bits as at run time.
    Folder(Module& module, Function& function, bool checks, bool settled)
        : module_(module), function_(function), checks_(checks), settled_(settled) {}

    void run() {
        count_definitions();
        walk(function_.body);
        remove_constant_variables();
    }

private:
    // ------------------------------------------------------------ variables

    void count_definitions() {
        for (const Var* param : function_.params) {
            ++definitions_[param];
        }
        for_each_stmt(function_.body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](const Var* var) { ++definitions_[var]; });
        });
    }

    void note_constant(const Assign& stmt) {
        const bool integral = is_integer(stmt.var->type.scalar) || stmt.var->type.is(Scalar::kBool);
        if (!stmt.update && is_const(stmt.value) && integral && definitions_[stmt.var] == 1) {
            constants_.emplace(stmt.var, stmt.value->constant);
            noted_.push_back(stmt.var);
        }
    }

    // Walks a body that may not run: values assigned in it are known up to its end.
    void walk_branch(Body& body) {
        const std::size_t before = noted_.size();
        walk(body);
        lapsed_.insert(noted_.begin() + static_cast<std::ptrdiff_t>(before), noted_.end());
    }

    void remove_constant_variables() {
        if (constants_.empty()) {
            return;
        }
        std::unordered_map<const Var*, int> reads;  // those before the assignment, say in a loop
        for_each_expr(function_.body, [&](const Expr& expr) {
            if (expr.op == Op::kVar) {
                ++reads[expr.var];
            }
        });
        rewrite_stmts(function_.body, [&](Stmt* stmt, Body& out) {
            const auto* assignment = stmt->as<Assign>();
            if (assignment == nullptr || !constants_.contains(assignment->var) ||
                reads.contains(assignment->var)) {
                out.push_back(stmt);
            }
        });
    }

    // ------------------------------------------------------------ statements

    void walk(Body& body) {
        Body out;
        out.reserve(body.size());
        for (Stmt* stmt : body) {
            walk(stmt, out);
            if (!out.empty() && leaves(*out.back())) {
                break;
            }
        }
        body = std::move(out);
    }

    static bool leaves(const Stmt& stmt) {
        return stmt.kind == StmtKind::kReturn || stmt.kind == StmtKind::kBreak ||
               stmt.kind == StmtKind::kContinue || stmt.kind == StmtKind::kFail;
    }

    void walk(Stmt* stmt, Body& out) {
        for_each_slot(*stmt, [&](Expr*& slot) { rewrite(slot, [&](Expr* e) { return fold(e); }); });
        if (auto* branch = stmt->as<If>()) {
            if (const auto truth = truth_of(branch->condition)) {
                Body& taken = *truth ? branch->then_body : branch->else_body;
                mark_reductions(*truth ? branch->else_body : branch->then_body);
                walk(taken);
                out.insert(out.end(), taken.begin(), taken.end());
                return;
            }
        }
        if (auto* loop = stmt->as<While>(); loop && truth_of(loop->condition) == false) {
            mark_reductions(loop->body);
            return;
        }
        if (auto* loop = stmt->as<For>(); loop && never_runs(*loop)) {
            mark_reductions(loop->body);
            return;
        }
        if (auto* assertion = stmt->as<Assert>();
            assertion && truth_of(assertion->condition) == true) {
            return;
        }
        if (auto* evaluate = stmt->as<Evaluate>(); evaluate && is_pure(*evaluate->value)) {
            return;
        }
        if (auto* branch = stmt->as<If>()) {
            walk_branch(branch->then_body);
            walk_branch(branch->else_body);
            if (branch->then_body.empty() && branch->else_body.empty() &&
                is_pure(*branch->condition)) {
                return;
            }
        } else if (auto* gpu = stmt->as<Gpu>()) {
            walk(gpu->body);
        } else if (auto* loop = stmt->as<For>()) {
            around_.push_back(loop);
            walk_branch(loop->body);
            around_.pop_back();
        } else {
            for_each_body(*stmt, [&](Body& body) { walk_branch(body); });
        }
        if (auto* assignment = stmt->as<Assign>()) {
            note_constant(*assignment);
        }
        out.push_back(stmt);
    }

    // Whether it may be dropped: its only effect is a number. A slice also gives a shape.
    [[nodiscard]] bool is_pure(const Expr& expr) const {
        return !has_effects(expr.op) && expr.op != Op::kSlice && expr.op != Op::kNewAxis &&
               !(checks_ && expr.op == Op::kLoad) &&
               std::ranges::all_of(expr.operands, [&](const Expr* e) { return is_pure(*e); });
    }

    // Called before `dropped` is removed from the bodies of the loops around it.
    void mark_reductions(Body& dropped) {
        if (around_.empty() || find_updates(dropped).empty()) {
            return;
        }
        for (For* loop : around_) {
            loop->mapping.reduce = loop->mapping.reduce || accumulates(*loop);
        }
    }

    static bool never_runs(const For& loop) {
        const auto begin = constant_integer(loop.begin), end = constant_integer(loop.end),
                   step = constant_integer(loop.step);
        return begin && end && step && (*step > 0 ? *begin >= *end : *begin <= *end);
    }

    // ------------------------------------------------------------ expressions

    Expr* constant(const Expr* at, Constant value) {
        return Builder(module_, at->span).constant(at->type, std::move(value));
    }

    // An expression over slices is not folded to one of them: a plain slice is a view, which would
    // show later stores.
    Expr* fold(Expr* expr) {
        Expr* const result = folded(expr);
        return result != expr && result->op == Op::kLoad && has_slices(*result) ? expr : result;
    }

    Expr* folded(Expr* expr) {
        if (expr->op == Op::kVar) {
            const auto found = constants_.find(expr->var);
            return found == constants_.end() || lapsed_.contains(expr->var)
                       ? expr
                       : constant(expr, found->second);
        }
        if (Expr* value = evaluate(expr)) {
            return value;
        }
        switch (expr->op) {
            case Op::kSelect:
                if (const auto truth = truth_of(expr->operands[0])) {
                    return expr->operands[*truth ? 1 : 2];
                }
                return expr;
            case Op::kAnd:
            case Op::kOr:
                return fold_logic(expr);
            case Op::kNot:
            case Op::kNeg:
                return expr->operands[0]->op == expr->op ? expr->operands[0]->operands[0] : expr;
            case Op::kConvert:
                return fold_conversion(expr);
            case Op::kPow:
                return fold_power(expr);
            case Op::kSimplePower:
                return fold_simple_power(expr);
            default:
                break;
        }
        return expr->operands.size() == 2 ? fold_binary(expr) : expr;
    }

    Expr* evaluate(const Expr* expr) {
        if (expr->operands.empty() || expr->operands.size() > 3 || !expr->type.is_scalar() ||
            !std::ranges::all_of(expr->operands, is_const)) {
            return nullptr;
        }
        // guard_operands handles this power.
        if (const auto* power = std::get_if<std::int64_t>(&expr->operands.back()->constant.value);
            expr->op == Op::kPow && power != nullptr && *power < 0) {
            return nullptr;
        }
        if (overflows(*expr)) {
            return nullptr;
        }
        std::array<Constant, 3> values;
        for (std::size_t i = 0; i < expr->operands.size(); ++i) {
            values[i] = expr->operands[i]->constant;
        }
        const Scalar operand = expr->operands.back()->type.scalar;
        // A product may be rounded together with the sum that it is added to (settle-reductions).
        const bool may_be_fused = expr->op == Op::kMul && is_float(operand);
        if (settled_ && (may_be_fused || !is_exact(expr->op, operand))) return nullptr;
        const auto value =
            evaluate_op(expr->op, operand, expr->type.scalar,
                        std::span<const Constant>(values.data(), expr->operands.size()));
        return value ? constant(expr, *value) : nullptr;
    }

    // Whether it overflows 64 bits: the checks of subscripts must see it unfolded.
    static bool overflows(const Expr& expr) {
        const auto a = constant_integer(expr.operands.front());
        const auto b = constant_integer(expr.operands.back());
        std::int64_t result = 0;
        if (!a || !b || !expr.type.is(Scalar::kI64)) {
            return false;
        }
        switch (expr.op) {
            case Op::kNeg:
                return __builtin_sub_overflow(std::int64_t{0}, *a, &result);
            case Op::kAdd:
                return __builtin_add_overflow(*a, *b, &result);
            case Op::kSub:
                return __builtin_sub_overflow(*a, *b, &result);
            case Op::kMul:
                return __builtin_mul_overflow(*a, *b, &result);
            default:
                return false;
        }
    }

    Expr* fold_logic(Expr* expr) {
        Expr *a = expr->operands[0], *b = expr->operands[1];
        const bool neutral = expr->op == Op::kAnd;  // True and x, False or x
        if (const auto left = truth_of(a)) {
            return *left == neutral ? b : a;
        }
        if (const auto right = truth_of(b)) {
            return *right == neutral ? a : is_pure(*a) ? b : expr;
        }
        return expr;
    }

    // Merges two conversions, of which the first is exact. An integer that passes through a float
    // does not wrap at the limits of the last type, as it would by itself.
    static Expr* fold_conversion(Expr* expr) {
        Expr* inner = expr->operands[0];
        if (inner->op == Op::kConvert) {
            const Scalar from = inner->operands[0]->type.scalar;
            const Scalar through = inner->type.scalar;
            const Scalar to = expr->type.scalar;
            const bool bounded = is_integer(from) && is_float(through) && is_integer(to);
            if (embeds(from, through) && (!bounded || embeds(from, to))) {
                expr->operands[0] = inner = inner->operands[0];
            }
        }
        return inner->type == expr->type ? inner : expr;
    }

    Expr* fold_power(Expr* expr) {
        Expr *base = expr->operands[0], *exponent = expr->operands[1];
        const auto is = [&](std::int64_t value) {
            return is_integer_value(exponent, value) ||
                   is_real_value(exponent, static_cast<double>(value));
        };
        if (is(0) && is_pure(*base)) {
            return constant(expr, Constant{std::int64_t{1}});
        }
        if (is(1)) {
            return base;
        }
        if (is(2)) {  // one correctly rounded product: the exact result of pow
            Expr* square = module_.make_expr(Op::kSquare, expr->type, expr->span, {base});
            return square;
        }
        return expr;
    }

    // The reciprocal is rounded as the power is.
    Expr* fold_simple_power(Expr* expr) {
        if (ir::simple_power(*expr->operands[1]) != -2) return expr;
        return module_.make_expr(Op::kReciprocal, expr->type, expr->span, {expr->operands[0]});
    }

    Expr* fold_binary(Expr* expr) {
        Expr *a = expr->operands[0], *b = expr->operands[1];
        const bool integral = is_integer(expr->type.scalar);
        switch (expr->op) {
            case Op::kAdd:
                if (is_integer_value(b, 0) || is_real_value(b, -0.0)) {
                    return a;
                }
                if (is_integer_value(a, 0) || is_real_value(a, -0.0)) {
                    return b;
                }
                return integral ? fold_sum(expr) : expr;
            case Op::kSub:
                if (is_integer_value(b, 0) || is_real_value(b, 0.0)) {
                    return a;
                }
                return integral ? fold_sum(expr) : expr;
            case Op::kMul:
                if (is_one(b) || is_one(a)) {
                    return is_one(b) ? a : b;
                }
                if (is_integer_value(b, 0) && is_pure(*a)) {
                    return b;
                }
                if (is_integer_value(a, 0) && is_pure(*b)) {
                    return a;
                }
                if (Expr* positive = is_signed_integer(expr->type.scalar) ? negated(expr) : nullptr)
                    return module_.make_expr(Op::kNeg, expr->type, expr->span, {positive});
                return expr;
            case Op::kDiv:
                return is_real_value(b, 1.0) ? a : expr;
            case Op::kFloorDiv:
                return is_integer_value(b, 1) ? a : expr;
            case Op::kMod:
                return is_integer_value(b, 1) && is_pure(*a)
                           ? constant(expr, Constant{std::int64_t{0}})
                           : expr;
            case Op::kShl:
            case Op::kShr:
            case Op::kBitOr:
            case Op::kBitXor:
                return is_integer_value(b, 0) ? a : expr;
            default:
                return expr;
        }
    }

    // Folds (x + 3) - 1 to x + 2, which always holds, as integers wrap.
    Expr* fold_sum(Expr* expr) {
        Expr *inner = expr->operands[0], *last = expr->operands[1];
        const bool chain = (inner->op == Op::kAdd || inner->op == Op::kSub) &&
                           is_const(inner->operands[1]) && is_const(last);
        if (!chain) {
            return as_difference(expr);
        }
        const auto signed_value = [](const Expr* sum, const Expr* constant) {
            const __int128 value = std::get<std::int64_t>(constant->constant.value);
            return sum->op == Op::kAdd ? value : -value;
        };
        const __int128 exact = signed_value(inner, inner->operands[1]) + signed_value(expr, last);
        const auto total = static_cast<std::int64_t>(exact);
        if (total != exact && expr->type.is(Scalar::kI64)) {
            return expr;
        }
        if (total == 0) {
            return inner->operands[0];
        }
        const bool subtract = total < 0 && is_signed_integer(expr->type.scalar) &&
                              total != std::numeric_limits<std::int64_t>::min();
        return module_.make_expr(
            subtract ? Op::kSub : Op::kAdd, expr->type, expr->span,
            {inner->operands[0], constant(expr, Constant{subtract ? -total : total})});
    }

    // Writes x * -3 + c as c - x * 3, and x * -3 as -(x * 3): differences are easier to read, and
    // NVRTC confuses elements at products with negative factors (docs/explanation/gpu.md).
    Expr* as_difference(Expr* expr) {
        Expr *a = expr->operands[0], *b = expr->operands[1];
        if (!is_signed_integer(expr->type.scalar)) return expr;
        if (Expr* subtracted = negated(b)) {
            const Op op = expr->op == Op::kAdd ? Op::kSub : Op::kAdd;
            return module_.make_expr(op, expr->type, expr->span, {a, subtracted});
        }
        Expr* subtracted = negated(a);
        if (subtracted == nullptr) return expr;
        if (expr->op == Op::kAdd)
            return module_.make_expr(Op::kSub, expr->type, expr->span, {b, subtracted});
        const auto value = constant_integer(b);
        if (!value || *value == std::numeric_limits<std::int64_t>::min()) return expr;
        return module_.make_expr(Op::kSub, expr->type, expr->span,
                                 {constant(b, Constant{-*value}), subtracted});
    }

    // The y of a -y that is written as x * -3 or -x.
    Expr* negated(Expr* expr) {
        if (expr->op == Op::kNeg) return expr->operands[0];
        if (expr->op != Op::kMul) return nullptr;
        for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
            const auto factor = constant_integer(expr->operands[i]);
            if (!factor || *factor >= 0 || *factor == std::numeric_limits<std::int64_t>::min())
                continue;
            Expr* other = expr->operands[1 - i];
            if (*factor == -1) return other;
            return module_.make_expr(Op::kMul, expr->type, expr->span,
                                     {other, constant(expr->operands[i], Constant{-*factor})});
        }
        return nullptr;
    }

    Module& module_;
    Function& function_;
    const bool checks_, settled_;
    std::unordered_map<const Var*, int> definitions_;
    std::unordered_map<const Var*, Constant> constants_;
    std::vector<const Var*> noted_;          // in constants_, in order
    std::vector<For*> around_;               // the loops, outermost first
    std::unordered_set<const Var*> lapsed_;  // of them, those that no longer certainly have a value
};

}  // namespace

void fold_constants(PassContext& context) {
    for (Function* function : context.module.functions) {
        Folder(context.module, *function, context.options.check != Check::kNothing,
               context.options.deterministic)
            .run();
    }
}

}  // namespace parpy
