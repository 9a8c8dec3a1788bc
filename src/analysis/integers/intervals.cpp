// The fixpoint over the assignments of a function. Variables have one range for the whole function,
// widened to their type's if it keeps growing; conditions narrow it for the statements and operands
// that they guard.
#include "analysis/integers/intervals.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/integers/interval_arithmetic.h"
#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr Interval kBool = {0, 1};

bool is_tracked(const Type& type) {
    return type.is_scalar() && (is_integer(type.scalar) || type.scalar == Scalar::kBool);
}

// Calls fn for every expression that gives a run-time extent of an array of the function.
template <class F>
void for_each_extent(const Function& function, F&& fn) {
    for (const Var* param : function.params) {
        for (const Dim& dim : param->dims) {
            if (dim.extent_var != nullptr) {
                fn(dim.extent_var);
            }
        }
    }
}

}  // namespace

class IntervalWalk {
public:
    explicit IntervalWalk(Intervals& result) : result_(result) {}

    void run(const Function& function) {
        for (const Var* param : function.params) {
            enter(param);
        }
        for_each_extent(function, [&](const Var* extent) {
            result_.of_var_[extent] = {0,
                                       extent->limit != 0 ? extent->limit : Intervals::kMaxExtent};
        });
        // Most ranges are stable after a few rounds; a range that still grows is widened.
        constexpr int kPatience = 4;
        for (int round = 0;; ++round) {
            changed_ = false;
            widen_ = round >= kPatience;
            walk(function.body);
            if (!changed_) {
                break;
            }
        }
        record_ = true;
        walk(function.body);
    }

private:
    struct Fact {
        const Var* var;
        Interval values;
    };

    void enter(const Var* param) {
        if (!is_tracked(param->type)) {
            return;
        }
        Interval values = Interval::of_type(param->type.scalar);
        if (param->limit != 0) values = intersection(values, {-param->limit, param->limit});
        if (param->origin.kind == Origin::Kind::kExtent) {
            values = intersection(values, {0, Intervals::kMaxExtent});
        }
        result_.of_var_[param] = values;
    }

    // ------------------------------------------------------------ statements

    void walk(const Body& body) {
        for (const Stmt* stmt : body) {
            walk(*stmt);
        }
    }

    void guarded(const Body& body, const Expr* condition, bool truth) {
        const std::size_t before = facts_.size();
        assume(*condition, truth);
        if (facts_.size() != before) {  // facts do not hold for variables that the body assigns
            const Uses uses = uses_of(body);
            const auto first = facts_.begin() + static_cast<std::ptrdiff_t>(before);
            facts_.erase(
                std::remove_if(first, facts_.end(),
                               [&](const Fact& fact) { return uses.written.contains(fact.var); }),
                facts_.end());
        }
        walk(body);
        facts_.resize(before);
    }

    void walk(const Stmt& stmt) {
        switch (stmt.kind) {
            case StmtKind::kAssign:
                assign(static_cast<const Assign&>(stmt));
                break;
            case StmtKind::kBind:
                eval(*static_cast<const Bind&>(stmt).value);
                break;
            case StmtKind::kStore: {
                const auto& store = static_cast<const Store&>(stmt);
                for (const Expr* index : store.indices) {
                    eval(*index);
                }
                eval(*store.value);
                break;
            }
            case StmtKind::kFor:
                loop(static_cast<const For&>(stmt));
                break;
            case StmtKind::kWhile: {
                const auto& loop = static_cast<const While&>(stmt);
                // The condition is evaluated again after the body has run.
                const std::vector<Fact> outer = std::exchange(facts_, {});
                const Uses uses = uses_of(loop.body);
                for (const Fact& fact : outer) {
                    if (!uses.written.contains(fact.var)) {
                        facts_.push_back(fact);
                    }
                }
                eval(*loop.condition);
                while_body(loop);
                facts_ = outer;
                break;
            }
            case StmtKind::kIf: {
                const auto& branch = static_cast<const If&>(stmt);
                eval(*branch.condition);
                guarded(branch.then_body, branch.condition, true);
                guarded(branch.else_body, branch.condition, false);
                break;
            }
            case StmtKind::kReturn:
                evaluate(static_cast<const Return&>(stmt).value);
                break;
            case StmtKind::kEvaluate:
                evaluate(static_cast<const Evaluate&>(stmt).value);
                break;
            case StmtKind::kAssert:
                evaluate(static_cast<const Assert&>(stmt).condition);
                break;
            case StmtKind::kFail:
                for (const Expr* value : static_cast<const Fail&>(stmt).values) {
                    eval(*value);
                }
                break;
            case StmtKind::kPrint:
                for (const Expr* value : static_cast<const Print&>(stmt).values)
                    eval(*value);
                break;
            case StmtKind::kGpu: {
                const auto& gpu = static_cast<const Gpu&>(stmt);
                for_each_slot(stmt, [&](const Expr* slot) { eval(*slot); });
                if (gpu.by_hand()) blocks_x_ = quiet(*gpu.grid[0]).high;
                walk(gpu.body);
                blocks_x_ = Interval::all().high;
                break;
            }
            case StmtKind::kLaunch: {
                const auto& launch = static_cast<const Launch&>(stmt);
                for_each_slot(stmt, [&](const Expr* slot) { eval(*slot); });
                if (launch.chunks != nullptr) {
                    set(launch.chunks, {1, Interval::all().high});
                }
                break;
            }
            case StmtKind::kFetch: {
                const Var* var = static_cast<const Fetch&>(stmt).var;
                if (is_tracked(var->type)) set(var, Interval::of_type(var->type.scalar));
                break;
            }
            case StmtKind::kBreak:
            case StmtKind::kContinue:
            case StmtKind::kAlloc:
            case StmtKind::kBarrier:
                break;
        }
    }

    void evaluate(const Expr* expr) {
        if (expr != nullptr) {
            eval(*expr);
        }
    }

    void while_body(const While& loop) { guarded(loop.body, loop.condition, true); }

    void assign(const Assign& stmt) {
        const Interval value = eval(*stmt.value);
        if (!is_tracked(stmt.var->type)) {
            return;
        }
        if (!stmt.update) {
            set(stmt.var, value);
        } else if (stmt.var->type.is(Scalar::kU64)) {
            set(stmt.var, Interval::all());
        } else if (const Interval old = of(stmt.var); !old.empty() && !value.empty()) {
            set(stmt.var, arithmetic(*stmt.update, old, value, stmt.var->type.scalar));
        }
    }

    void loop(const For& stmt) {
        const Interval begin = eval(*stmt.begin), end = eval(*stmt.end), step = eval(*stmt.step);
        for (const Reduction& reduction : stmt.mapping.reductions) {
            for (const Expr* index : reduction.indices) {
                eval(*index);
            }
        }
        Interval values = kEmptyInterval;
        if (!begin.empty() && !end.empty() && !step.empty()) {
            if (step.high > 0 && end.high > Interval::all().low) {
                values = hull(values, {begin.low, end.high - 1});
            }
            if (step.low < 0 && end.low < Interval::all().high) {
                values = hull(values, {end.low + 1, begin.high});
            }
        }
        set(stmt.var, values);
        const std::vector<Fact> outer = facts_;
        if (!facts_.empty()) {
            const Uses uses = uses_of(stmt);
            std::erase_if(facts_, [&](const Fact& f) { return uses.written.contains(f.var); });
        }
        walk(stmt.body);
        facts_ = outer;
    }

    void set(const Var* var, const Interval& values) {
        if (values.empty()) {
            result_.of_var_.try_emplace(var, kEmptyInterval);
            return;
        }
        auto [place, is_new] = result_.of_var_.try_emplace(var, values);
        if (is_new) {
            changed_ = true;
            return;
        }
        const Interval grown = hull(place->second, values);
        if (grown == place->second) {
            return;
        }
        if (widen_) {
            const Interval type = Interval::of_type(var->type.scalar);
            if (grown.low < place->second.low || place->second.empty()) {
                place->second.low = type.low;
            }
            if (grown.high > place->second.high || place->second.empty()) {
                place->second.high = type.high;
            }
        } else {
            place->second = grown;
        }
        changed_ = true;
    }

    // The values at the current place: those that satisfy the conditions around it.
    Interval of(const Var* var) const {
        if (var->constant != nullptr) {
            if (const auto* value = std::get_if<std::int64_t>(&var->constant->value)) {
                return Interval::exactly(*value);
            }
        }
        const auto found = result_.of_var_.find(var);
        Interval values = found == result_.of_var_.end() ? kEmptyInterval : found->second;
        for (const Fact& fact : facts_) {
            if (fact.var == var) {
                values = intersection(values, fact.values);
            }
        }
        return values;
    }

    // ------------------------------------------------------------ conditions

    void assume(const Expr& condition, bool truth) {
        if (condition.op == Op::kNot) {
            assume(*condition.operands[0], !truth);
        } else if (condition.op == (truth ? Op::kAnd : Op::kOr)) {
            assume(*condition.operands[0], truth);
            assume(*condition.operands[1], truth);
        } else if (is_comparison(condition.op)) {
            const Expr &a = *condition.operands[0], &b = *condition.operands[1];
            if (!is_tracked(a.type) || a.type.is(Scalar::kU64)) {
                return;
            }
            const Op op = truth ? condition.op : negation(condition.op);
            restrict(a, op, quiet(b));
            restrict(b, mirrored(op), quiet(a));
        }
    }

    // Restricts the variable in `side`, which may be v, v + c or v - c, converted or not, to values
    // that satisfy `side <op> bound`.
    void restrict(const Expr& side, Op op, const Interval& bound) {
        if (bound.empty()) {
            return;
        }
        const Expr* expr = &side;
        Wide offset = 0;
        while (expr->op != Op::kVar) {
            const bool widening = expr->op == Op::kConvert && is_tracked(expr->operands[0]->type) &&
                                  !expr->operands[0]->type.is(Scalar::kU64) &&
                                  Interval::of_type(expr->operands[0]->type.scalar)
                                      .within(Interval::of_type(expr->type.scalar));
            const bool shift = (expr->op == Op::kAdd || expr->op == Op::kSub) &&
                               expr->operands[1]->op == Op::kConst;
            if (widening) {
                expr = expr->operands[0];
            } else if (shift && quiet(*expr) != Interval::of_type(expr->type.scalar)) {
                const Interval by = quiet(*expr->operands[1]);
                offset += expr->op == Op::kAdd ? Wide{by.low} : -Wide{by.low};
                expr = expr->operands[0];
            } else {
                return;
            }
        }
        const Wide low = Wide{bound.low} - offset, high = Wide{bound.high} - offset;
        const Wide least = Interval::all().low, most = Interval::all().high;
        if (low < least || low > most || high < least || high > most) {
            return;
        }
        const Interval now = of(expr->var);
        if (now.empty()) {
            return;
        }
        facts_.push_back({expr->var, restricted(now, op,
                                                {static_cast<std::int64_t>(low),
                                                 static_cast<std::int64_t>(high)})});
    }

    // ------------------------------------------------------------ expressions

    // Evaluates without recording ranges: the walk records those of the operands.
    Interval quiet(const Expr& expr) {
        const bool record = std::exchange(record_, false);
        const Interval values = eval(expr);
        record_ = record;
        return values;
    }

    Interval eval(const Expr& expr) {
        const Interval values = compute(expr);
        if (record_ && is_tracked(expr.type)) {
            result_.of_expr_[&expr] = values;
        }
        return values;
    }

    Interval eval_if(const Expr& expr, const Expr& condition, bool truth) {
        const std::size_t before = facts_.size();
        assume(condition, truth);
        const Interval values = eval(expr);
        facts_.resize(before);
        return values;
    }

    Interval compute(const Expr& expr) {
        switch (expr.op) {
            case Op::kConst:
                return constant(expr);
            case Op::kVar:
                return is_tracked(expr.type) ? of(expr.var) : Interval::all();
            case Op::kSelect: {
                eval(*expr.operands[0]);
                const Interval a = eval_if(*expr.operands[1], *expr.operands[0], true);
                const Interval b = eval_if(*expr.operands[2], *expr.operands[0], false);
                return hull(a, b);
            }
            case Op::kAnd:
            case Op::kOr:
                eval(*expr.operands[0]);
                eval_if(*expr.operands[1], *expr.operands[0], expr.op == Op::kAnd);
                return kBool;
            case Op::kRegister:
                return of_register(expr.reg);
            default:
                break;
        }
        std::array<Interval, 2> operands;
        bool dead = false;
        for (std::size_t i = 0; i < expr.operands.size(); ++i) {
            const Interval operand = eval(*expr.operands[i]);
            dead = dead || (is_tracked(expr.operands[i]->type) && operand.empty());
            if (i < operands.size()) {
                operands[i] = operand;
            }
        }
        if (!is_tracked(expr.type)) {
            return Interval::all();
        }
        if (dead) {
            return kEmptyInterval;
        }
        return operation(expr, operands[0], operands[1]);
    }

    static Interval operation(const Expr& expr, const Interval& a, const Interval& b) {
        const Scalar scalar = expr.type.scalar;
        const Interval type = Interval::of_type(scalar);
        if (expr.operands.empty() || !is_tracked(expr.operands[0]->type)) {
            return type;
        }
        switch (expr.op) {
            case Op::kLoad:
            case Op::kCall:
            case Op::kAtomic:
                return type;
            case Op::kConvert:
                return !expr.operands[0]->type.is(Scalar::kU64) && a.within(type) ? a : type;
            default:
                break;
        }
        if (scalar == Scalar::kU64 || scalar == Scalar::kBool) {
            return type;
        }
        switch (expr.op) {
            case Op::kPos:
                return a;
            case Op::kNeg:
                return fit(-Wide{a.high}, -Wide{a.low}, scalar);
            case Op::kAbs:
                return magnitude(a, scalar);
            case Op::kSquare: {
                const Interval size = magnitude(a, scalar);
                return size.low < 0
                           ? type
                           : fit(Wide{size.low} * size.low, Wide{size.high} * size.high, scalar);
            }
            case Op::kSign:
                return {a.low < 0 ? -1 : a.low > 0 ? 1 : 0, a.high < 0 ? -1 : a.high > 0 ? 1 : 0};
            default:
                return arity(expr.op) == 2 ? arithmetic(expr.op, a, b, scalar) : type;
        }
    }

    // The range that every GPU allows, restricted to this launch.
    Interval of_register(Register reg) const {
        const std::int64_t blocks_x = std::min(blocks_x_, Interval::of_type(Scalar::kI32).high);
        switch (reg) {
            case Register::kThreadX:
            case Register::kThreadY:
            case Register::kThreadZ:
                return {0, 1023};
            case Register::kBlockDimX:
            case Register::kBlockDimY:
            case Register::kBlockDimZ:
                return {1, 1024};
            case Register::kBlockX:
                return {0, blocks_x - 1};
            case Register::kBlockY:
            case Register::kBlockZ:
                return {0, 65534};
            case Register::kGridDimX:
                return {1, blocks_x};
            case Register::kGridDimY:
            case Register::kGridDimZ:
                return {1, 65535};
            case Register::kLane:
            case Register::kWarp:
                return {0, 31};
            case Register::kWarpSize:
                return {1, 32};
            case Register::kStackPointer:
            case Register::kStackLimit:
                return Interval::all();
            default:
                return {0, Interval::of_type(Scalar::kI32).high};
        }
    }

    static Interval constant(const Expr& expr) {
        if (const bool* flag = std::get_if<bool>(&expr.constant.value)) {
            return Interval::exactly(*flag ? 1 : 0);
        }
        const auto* value = std::get_if<std::int64_t>(&expr.constant.value);
        if (value == nullptr || (expr.type.is(Scalar::kU64) && *value < 0)) {
            return Interval::all();
        }
        return Interval::exactly(*value);
    }

    Intervals& result_;
    std::vector<Fact> facts_;
    std::int64_t blocks_x_ = Interval::all().high;  // blocks of the launch along x
    bool changed_ = false;
    bool widen_ = false;
    bool record_ = false;
};

Intervals::Intervals(const Function& function) {
    IntervalWalk(*this).run(function);
}

Interval Intervals::of(const Expr* expr) const {
    const auto found = of_expr_.find(expr);
    if (found != of_expr_.end()) return found->second;
    return expr->op == Op::kVar ? of(expr->var) : Interval::of_type(expr->type.scalar);
}

Interval Intervals::of(const Var* var) const {
    const auto found = of_var_.find(var);
    return found == of_var_.end() ? Interval::of_type(var->type.scalar) : found->second;
}

}  // namespace parpy
