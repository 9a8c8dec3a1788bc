// Divisions decided by the intervals of their operands (simplify_divisions.h).
#include "passes/mapped/simplify_divisions.h"

#include "analysis/integers/intervals.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

void simplify(Expr& expr, const Intervals& intervals) {
    if ((expr.op != Op::kFloorDiv && expr.op != Op::kMod) || !is_integer(expr.type.scalar)) return;
    const Interval dividend = intervals.of(expr.operands[0]);
    const Interval divisor = intervals.of(expr.operands[1]);
    if (dividend.low < 0 || divisor.low <= 0) return;
    expr.op = expr.op == Op::kFloorDiv ? Op::kQuotient : Op::kRemainder;
}

}  // namespace

void simplify_divisions(PassContext& context) {
    for (Function* function : context.module.functions) {
        const Intervals intervals(*function);
        for_each_expr(function->body, [&](Expr& expr) { simplify(expr, intervals); });
    }
}

}  // namespace parpy
