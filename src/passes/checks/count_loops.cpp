// See count_loops.h.
#include "passes/checks/count_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/integers/intervals.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

using Wide = __int128;

// From a begin this small, with steps this short, no loop reaches the end of 64 bits.
constexpr std::int64_t kNear = std::int64_t{1} << 48;
constexpr std::int64_t kShort = std::int64_t{1} << 12;
// A step of this length from the number of an element stays within 64 bits.
constexpr Wide kFar = Wide{1} << 62;

bool is_subscript(const Expr& index, const Var& var) {
    const Expr& plain = index.op == Op::kIndex ? *index.operands[0] : index;
    return constant_offset(plain, var).has_value();
}

bool any_subscript(const std::vector<Expr*>& indices, const Var& var) {
    return std::ranges::any_of(indices, [&](const Expr* e) { return is_subscript(*e, var); });
}

// Whether evaluating `expr` loads an element whose number is that of the variable.
bool indexes(const Expr& expr, const Var& var) {
    if (expr.op == Op::kLoad && any_subscript(expr.operands, var)) return true;
    const bool lazy = expr.op == Op::kSelect || expr.op == Op::kAnd || expr.op == Op::kOr;
    const std::size_t certain = lazy ? 1 : expr.operands.size();
    return std::any_of(expr.operands.begin(), expr.operands.begin() + static_cast<long>(certain),
                       [&](const Expr* operand) { return indexes(*operand, var); });
}

// Whether every iteration uses an element whose number is the variable, which is therefore small.
bool indexes(const For& loop) {
    bool found = false;
    for (const Stmt* stmt : loop.body) {
        const auto* store = stmt->as<Store>();
        found = found || (store != nullptr && any_subscript(store->indices, *loop.var));
        for_each_slot(*stmt, [&](const Expr* slot) { found = found || indexes(*slot, *loop.var); });
        if (found || contains_jump(*stmt)) break;
    }
    return found;
}

// Negates in wrap-around arithmetic: the least integer is its own negative.
std::int64_t negated(std::int64_t value) {
    return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(value));
}

class LoopCounts {
public:
    LoopCounts(Module& module, const Function& function) : b_(module), function_(function) {}

    void run(Body& body) {
        for_each_stmt(body, [&](const Stmt& stmt) {
            const auto* loop = stmt.as<For>();
            if (loop != nullptr && !ends(*loop)) endless_.insert(loop);
        });
        if (endless_.empty()) return;
        rewrite_stmts(body, [&](Stmt* stmt, Body& out) {
            auto* loop = stmt->as<For>();
            if (endless_.contains(loop)) count(*loop, out);
            out.push_back(stmt);
        });
    }

private:
    bool ends(const For& loop) {
        const bool alone = !loop.mapping.parallel();
        const auto known = constant_integer(loop.step);
        if (alone && (known == 1 || known == -1)) return true;
        const bool wide = loop.var->type.is(Scalar::kI64);
        // Threads advance by their number at once, which is rounded up.
        const Wide stride = alone ? 1 : Wide{loop.mapping.threads} + kMaxThreadsPerBlock;
        const Interval step = range(loop.step);
        const auto moderate = [&](std::int64_t s) {
            return stride * s <= kFar && stride * s >= -kFar;
        };
        if (wide && moderate(step.low) && moderate(step.high) && indexes(loop)) return true;
        const Interval begin = range(loop.begin);
        if (wide && begin.within({-kNear, kNear}) && step.within({-kShort, kShort})) return true;
        const Interval end = range(loop.end);
        const Interval type = Interval::of_type(loop.var->type.scalar);
        const auto over = [&](std::int64_t a, std::int64_t by) { return Wide{a} + stride * by; };
        const bool up = step.high <= 0 || (over(end.high, step.high) <= type.high &&
                                           over(begin.high, step.high) <= type.high);
        const bool down = step.low >= 0 || (over(end.low, step.low) >= type.low &&
                                            over(begin.low, step.low) >= type.low);
        return up && down;
    }

    // The intervals are computed on first use.
    Interval range(const Expr* expr) {
        if (const auto known = constant_integer(expr)) return Interval::exactly(*known);
        if (!intervals_) intervals_.emplace(function_);
        return intervals_->of(expr);
    }

    void count(For& loop, Body& out) {
        b_.span = loop.span;
        const std::string name = loop.var->name;
        const Scalar type = loop.var->type.scalar;
        const auto trips = constant_trip_count(loop);
        const auto kept = [&](Expr* bound, const char* suffix) -> Expr* {
            if (bound->op == Op::kConst) return bound;
            Var* var = b_.scalar(name + suffix, type);
            out.push_back(b_.assign(var, b_.convert(bound, type)));
            return b_.var(var);
        };
        Expr* begin = kept(loop.begin, "_begin");
        Expr* end = kept(loop.end, "_end");
        Expr* step = kept(loop.step, "_step");
        Var* number = b_.scalar(name + "_number", Scalar::kI64);
        Expr* moved = b_.var(number);
        if (constant_integer(step) != 1) {
            moved = b_.binary(Op::kMul, moved, b_.convert(copy(step), Scalar::kI64));
        }
        moved = b_.convert(moved, type);
        loop.body.insert(loop.body.begin(),
                         b_.assign(loop.var, b_.binary(Op::kAdd, copy(begin), moved)));
        loop.var = number;
        loop.begin = b_.integer(0);
        if (trips) {
            loop.end = b_.integer(*trips);
        } else {
            Var* count = b_.scalar(name + "_count", Scalar::kI64);
            out.push_back(b_.assign(count, trip_count(begin, end, step)));
            loop.end = b_.var(count);
        }
        loop.step = b_.integer(1);
    }

    // (end - begin - 1) // step + 1 of unsigned differences, which no bounds exceed; a step of 0
    // gives 0.
    Expr* trip_count(const Expr* begin, const Expr* end, const Expr* step) {
        const auto known = constant_integer(step);
        const auto is = [&](Op op) {
            return b_.binary(op, copy(step), b_.integer(0, step->type.scalar));
        };
        const auto up = [&] { return along(begin, end, bits(step), known == 1); };
        const auto down = [&] {
            Expr* stride = known ? b_.integer(negated(*known), Scalar::kU64)
                                 : b_.binary(Op::kSub, b_.integer(0, Scalar::kU64), bits(step));
            return along(end, begin, stride, known == -1);
        };
        if (known) return *known > 0 ? up() : down();
        return b_.select(is(Op::kGt), up(), b_.select(is(Op::kLt), down(), b_.integer(0)));
    }

    Expr* along(const Expr* from, const Expr* to, Expr* stride, bool by_one) {
        const auto one = [&] { return b_.integer(1, Scalar::kU64); };
        Expr* trips = b_.binary(Op::kSub, bits(to), bits(from));
        if (!by_one) {
            Expr* last = b_.binary(Op::kFloorDiv, b_.binary(Op::kSub, trips, one()), stride);
            trips = b_.binary(Op::kAdd, last, one());
        }
        return b_.select(b_.binary(Op::kLt, copy(from), copy(to)), b_.convert(trips, Scalar::kI64),
                         b_.integer(0));
    }

    Expr* copy(const Expr* e) { return clone(b_.module(), e); }
    Expr* bits(const Expr* e) {
        const auto known = constant_integer(e);
        return known ? b_.integer(*known, Scalar::kU64) : b_.convert(copy(e), Scalar::kU64);
    }

    Builder b_;
    const Function& function_;
    std::optional<Intervals> intervals_;
    std::unordered_set<const For*> endless_;
};

}  // namespace

void count_loops(PassContext& context) {
    for (Function* function : context.module.functions)
        LoopCounts(context.module, *function).run(function->body);
}

}  // namespace parpy
