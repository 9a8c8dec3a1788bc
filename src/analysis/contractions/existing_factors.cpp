// See existing_factors.h.
#include "analysis/contractions/existing_factors.h"

#include <algorithm>
#include <utility>

#include "analysis/contractions/nest_of_sums.h"
#include "analysis/integers/trend.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the first or the last row has the widest range.
std::pair<bool, bool> widest(Trend begin, Trend end) {
    return {begin == Trend::kGrows || end == Trend::kFalls,
            begin == Trend::kFalls || end == Trend::kGrows};
}

// Whether all elements between the least and the greatest subscripts that the loops give exist.
bool has_no_gaps(const Expr& factor, const Loops& loops, const Uses& uses) {
    const auto monotone = [&](const Expr* index) {
        const auto has = [&](const For* loop) { return varies(*index, *loop); };
        const auto count = std::ranges::count_if(loops, has);
        if (count == 0) return true;
        const For& loop = **std::ranges::find_if(loops, has);
        return count == 1 && trend_of(*index, *loop.var, uses) != Trend::kUnknown;
    };
    return !any_expr(factor, [&](const Expr& e) {
        return e.op == Op::kLoad && !std::ranges::all_of(e.operands, monotone);
    });
}

// Whether the loop, if the subscript varies with it, gives it only values that the axis has.
bool stays_within(const Contraction& contraction, const For& loop, const Expr& index,
                  const Dim& axis) {
    if (!varies(index, loop)) return true;
    const Contraction::Bounds& bounds = contraction.bounds.at(&loop);
    const auto begin = constant_integer(bounds.begin), end = constant_integer(bounds.end);
    return index.op == Op::kVar && begin && end && axis.extent && *begin >= 0 &&
           *end <= *axis.extent;
}

}  // namespace

bool reads_all(const Contraction& contraction, const Uses& uses) {
    const auto columns = widest(contraction.first_column, contraction.last_column);
    return std::ranges::all_of(contraction.steps, [&](const ContractionSteps& steps) {
        const auto own = widest(steps.begin, steps.end);
        if (!((columns.first || own.first) && (columns.second || own.second))) return true;
        Loops loops = steps.ranges.front().loops;
        loops.push_back(contraction.columns);
        return std::ranges::all_of(
            steps.rights, [&](const Expr* right) { return has_no_gaps(*right, loops, uses); });
    });
}

bool has_all_factors(const Contraction& contraction) {
    const auto exists = [&](const Expr* factor) {
        if (factor->op != Op::kLoad) return false;
        for (std::size_t axis = 0; axis < factor->operands.size(); ++axis) {
            for (const For* loop : {contraction.rows, contraction.columns}) {
                if (!stays_within(contraction, *loop, *factor->operands[axis],
                                  factor->var->dims[axis]))
                    return false;
            }
        }
        return true;
    };
    return std::ranges::all_of(contraction.steps, [&](const ContractionSteps& steps) {
        return std::ranges::all_of(steps.rights, exists) &&
               std::ranges::all_of(steps.ranges, [&](const ContractionSteps::Range& range) {
                   return std::ranges::all_of(range.lefts, exists);
               });
    });
}

}  // namespace parpy
