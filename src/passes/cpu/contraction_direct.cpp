// Decides which left factors tiles read where they are. See contraction_plan.h.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/contractions/nest_of_sums.h"
#include "analysis/integers/index_math.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "passes/cpu/contraction_plan.h"

namespace parpy {

using namespace ir;

namespace {

// Rows at this distance, or a multiple of it, share one set of a cache.
constexpr std::int64_t kSetBytes = 4096;
constexpr std::int64_t kSideBySide = 2;          // elements between steps
constexpr std::int64_t kCloseBytes = 256 << 10;  // of right factors that stay in a cache

// The distance in memory from one iteration of the loop to the next; nothing if it varies.
std::optional<std::int64_t> distance(const Expr& load, const For& loop) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < load.operands.size(); ++i) {
        const Linear index = linear(*load.operands[i]);
        std::int64_t factor = 0;
        for (const auto& [term, times] : index.terms) {
            if (term->op == Op::kVar && term->var == loop.var) {
                factor += times;
            } else if (varies(*term, loop)) {
                return std::nullopt;
            }
        }
        const auto& stride = load.var->dims[i].stride;
        if (factor != 0 && !stride) return std::nullopt;
        if (factor != 0) sum += factor * *stride;
    }
    return sum;
}

// Whether every row has columns, so that all of its steps are read.
bool all_rows_have_columns(const Contraction& c) {
    const auto first = constant_integer(c.bounds.at(c.rows).begin),
               end = constant_integer(c.bounds.at(c.rows).end);
    if (!first || !end) return false;
    const Contraction::Bounds& columns = c.bounds.at(c.columns);
    const Linear width = linear(*columns.end) - linear(*columns.begin);
    for (const std::int64_t row : {*first, *end - 1}) {
        std::int64_t value = width.constant;
        for (const auto& [term, factor] : width.terms) {
            if (term->op != Op::kVar || term->var != c.rows->var) return false;
            value += factor * row;
        }
        if (value < 1) return false;
    }
    return true;
}

// A factor that is an element at constant distances from loop to loop: of rows or columns, and of
// the steps from some loop on.
std::optional<ContractionPlan::Direct> direct_factor(const Contraction& c, const Expr& factor,
                                                     const For& along, const Loops& steps) {
    if (factor.op != Op::kLoad || !factor.type.is(c.type)) return std::nullopt;
    const auto row = distance(factor, along), step = distance(factor, *steps.back());
    if (!row || !step) return std::nullopt;
    ContractionPlan::Direct direct{steps.size() - 1, *row, *step};
    // A loop around continues where the inner loop ends.
    std::int64_t next = *step;
    while (direct.run > 0) {
        const auto trips = constant_trips(c, *steps[direct.run]);
        const auto around = distance(factor, *steps[direct.run - 1]);
        if (!trips || !around || *around != next * *trips) break;
        next = *around;
        --direct.run;
    }
    return direct;
}

}  // namespace

std::vector<ContractionPlan::Direct> direct_lefts(const Contraction& c, std::int64_t tile_rows) {
    const auto rows = constant_trips(c, *c.rows);
    if (!rows || *rows < tile_rows || !all_rows_have_columns(c)) return {};
    std::vector<ContractionPlan::Direct> result;
    for (const ContractionSteps& steps : c.steps) {
        const ContractionSteps::Range& range = steps.ranges.front();
        if (steps.ranges.size() != 1 || range.lefts.size() != 1) return {};
        const auto direct = direct_factor(c, *range.lefts.front(), *c.rows, range.loops);
        if (!direct || std::abs(direct->step) > kSideBySide) return {};
        if (direct->row * size_in_bytes(c.type) % kSetBytes == 0) return {};
        if (std::abs(direct->row) <= std::abs(direct->step)) return {};
        result.push_back(*direct);
    }
    return result;
}

std::vector<ContractionPlan::Direct> direct_rights(const Contraction& c,
                                                   std::int64_t tile_columns) {
    const auto columns = constant_trips(c, *c.columns), products = constant_products(c);
    const bool varies = c.is_triangle() || std::ranges::any_of(c.steps, &ContractionSteps::varies);
    if (!columns || !products || *columns < tile_columns || varies) return {};
    if (*columns * *products * size_in_bytes(c.type) > kCloseBytes) return {};
    std::vector<ContractionPlan::Direct> result;
    for (const ContractionSteps& steps : c.steps) {
        const ContractionSteps::Range& range = steps.ranges.front();
        if (steps.ranges.size() != 1 || range.lefts.size() != 1) return {};
        const auto direct = direct_factor(c, *steps.rights.front(), *c.columns, range.loops);
        if (!direct || direct->row != 1) return {};
        result.push_back(*direct);
    }
    return result;
}

std::optional<ContractionPlan::Result> direct_result(const Contraction& c) {
    const auto is_zero = [&](const Expr& e) {
        const auto* value = std::get_if<double>(&e.constant.value);
        return e.op == Op::kConst && value != nullptr && *value == 0 && !std::signbit(*value);
    };
    ContractionPlan::Result result;
    Expr element;
    element.op = Op::kLoad;
    if (c.indices.empty()) {
        const auto* begin = c.before.size() == 1 ? c.before.front()->as<Assign>() : nullptr;
        result.store = c.behind.size() == 1 ? c.behind.front()->as<Store>() : nullptr;
        if (begin == nullptr || begin->var != c.target || begin->update || !is_zero(*begin->value))
            return std::nullopt;
        const Store* store = result.store;
        if (store == nullptr || store->update || store->atomic || !c.again.empty() ||
            store->value->op != Op::kVar || store->value->var != c.target ||
            store->array->type.scalar != c.type) {
            return std::nullopt;
        }
        result.anew = true;
        element.var = store->array;
        element.operands = store->indices;
    } else {
        if (!c.behind.empty() || !c.again.empty() || c.before.size() > 1) return std::nullopt;
        if (!c.before.empty()) {
            const auto* begin = c.before.front()->as<Store>();
            if (begin == nullptr || begin->update || begin->array != c.target ||
                !same(begin->indices, c.indices) || !is_zero(*begin->value)) {
                return std::nullopt;
            }
            result.anew = true;
        }
        element.var = c.target;
        element.operands = c.indices;
    }
    const auto row = distance(element, *c.rows), column = distance(element, *c.columns);
    if (!row || column != 1) return std::nullopt;
    result.row = *row;
    return result;
}

}  // namespace parpy
