// See lower_divisions.h.
#include "passes/cpu/lower_divisions.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "analysis/integers/index_math.h"
#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class Divisions {
public:
    Divisions(Module& module, const Function& function) : b_(module), intervals_(function) {}

    void lower(Expr& expr) {
        const bool remainder = expr.op == Op::kMod || expr.op == Op::kRemainder;
        const bool quotient = expr.op == Op::kFloorDiv || expr.op == Op::kQuotient;
        if ((!remainder && !quotient) || !is_integer(expr.type.scalar)) return;
        const std::optional<std::int64_t> divisor = constant_integer(expr.operands[1]);
        if (!divisor || *divisor < 2) return;
        const Scalar type = expr.type.scalar;
        b_.span = expr.span;
        if (by_bits(expr.op, expr.operands[1])) return;
        if (remainder) wrap(expr, *divisor, type);
    }

    // x //= 8 and x %= 8
    void lower(Stmt& stmt) {
        if (auto* assign = stmt.as<Assign>(); assign != nullptr && assign->update) {
            (void)by_bits(*assign->update, assign->value);
        } else if (auto* store = stmt.as<Store>(); store != nullptr && store->update) {
            (void)by_bits(*store->update, store->value);
        }
    }

private:
    // A division by a power of two becomes a shift or a mask.
    bool by_bits(Op& op, Expr*& divisor) {
        const bool remainder = op == Op::kMod || op == Op::kRemainder;
        if (!remainder && op != Op::kFloorDiv && op != Op::kQuotient) return false;
        const auto value = constant_integer(divisor);
        if (!value || *value < 2 || !std::has_single_bit(static_cast<std::uint64_t>(*value)))
            return false;
        op = remainder ? Op::kBitAnd : Op::kShr;
        const int places = std::countr_zero(static_cast<std::uint64_t>(*value));
        divisor = b_.integer(remainder ? *value - 1 : places, divisor->type.scalar);
        return true;
    }

    // At most one divisor too large or too small.
    void wrap(Expr& expr, std::int64_t divisor, Scalar type) {
        Expr* dividend = expr.operands[0];
        const Interval range = intervals_.of(dividend);
        if (range.empty() || !is_plain(*dividend) ||
            divisor > std::numeric_limits<std::int32_t>::max()) {
            return;
        }
        const auto copy = [&] { return clone(b_.module(), dividend); };
        const auto number = [&](std::int64_t value) { return b_.integer(value, type); };
        Expr *beyond = nullptr, *moved = nullptr;
        if (range.within({0, 2 * divisor - 1})) {
            beyond = b_.binary(Op::kGe, copy(), number(divisor));
            moved = b_.binary(Op::kSub, copy(), number(divisor));
        } else if (range.within({-divisor, divisor - 1})) {
            beyond = b_.binary(Op::kLt, copy(), number(0));
            moved = b_.binary(Op::kAdd, copy(), number(divisor));
        } else {
            return;
        }
        expr.op = Op::kSelect;
        expr.operands = {beyond, moved, dividend};
    }

    Builder b_;
    const Intervals intervals_;
};

}  // namespace

void lower_divisions(PassContext& context) {
    for (Function* function : context.module.functions) {
        const auto divides = [](Op op) {
            return op == Op::kMod || op == Op::kRemainder || op == Op::kFloorDiv ||
                   op == Op::kQuotient;
        };
        const auto updates = [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            const auto* store = stmt.as<Store>();
            const auto op = assign != nullptr  ? assign->update
                            : store != nullptr ? store->update
                                               : std::optional<Op>();
            return op && divides(*op);
        };
        if (!any_expr(function->body, [&](const Expr& e) { return divides(e.op); }) &&
            !any_stmt(function->body, updates)) {
            continue;
        }
        Divisions divisions(context.module, *function);
        for_each_stmt(function->body, [&](Stmt& stmt) { divisions.lower(stmt); });
        rewrite(function->body, [&](Expr* expr) {
            divisions.lower(*expr);
            return expr;
        });
    }
}

}  // namespace parpy
