// See sizes.h.
#include "analysis/contractions/sizes.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "ir/builder.h"

namespace parpy {

using namespace ir;

ContractionSizes sizes_of(const Contraction& c, const Traffic& traffic) {
    ContractionSizes sizes;
    sizes.rows = c.one_row ? 1 : traffic.trips(*c.rows);
    sizes.columns = c.is_triangle() ? traffic.most_trips(*c.columns) : traffic.trips(*c.columns);
    sizes.known_rows = constant_trips(c, *c.rows).has_value();
    sizes.known_columns = traffic.known_trips(*c.columns).has_value();
    for (const For* loop : c.outer)
        sizes.outer *= traffic.trips(*loop);
    for (const ContractionSteps& steps : c.steps) {
        for (const ContractionSteps::Range& range : steps.ranges) {
            double products = static_cast<double>(steps.rights.size());
            for (const For* loop : range.loops)
                products *= traffic.trips(*loop);
            sizes.products += products;
        }
    }
    return sizes;
}

namespace {

// The value of an expression of constants and the row.
std::optional<std::int64_t> constant_value(const Expr& e, const Var& row, std::int64_t value) {
    if (e.op == Op::kVar && e.var == &row) return value;
    if (const auto known = constant_integer(&e)) return known;
    if (e.operands.empty() || e.operands.size() > 2) return std::nullopt;
    const auto a = constant_value(*e.operands.front(), row, value),
               b = constant_value(*e.operands.back(), row, value);
    if (!a || !b) return std::nullopt;
    switch (e.op) {
        case Op::kAdd:
            return *a + *b;
        case Op::kSub:
            return *a - *b;
        case Op::kMul:
            return *a * *b;
        case Op::kNeg:
            return -*a;
        case Op::kMin:
            return std::min(*a, *b);
        case Op::kMax:
            return std::max(*a, *b);
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<std::int64_t> constant_trips(const Contraction& contraction, const For& loop) {
    const auto& bounds = contraction.bounds.at(&loop);
    const auto begin = constant_integer(bounds.begin), end = constant_integer(bounds.end);
    return begin && end ? constant_trip_count(*begin, *end, 1) : std::nullopt;
}

namespace {

// The distance from the least begin to the greatest end of a range, over all rows.
std::optional<std::int64_t> constant_span(const Contraction& c, const Expr& begin, Trend begins,
                                          const Expr& end, Trend ends) {
    const Contraction::Bounds& rows = c.bounds.at(c.rows);
    const auto first = constant_integer(rows.begin), last = constant_integer(rows.end);
    if (!first || !last) {
        if (begins != Trend::kConstant || ends != Trend::kConstant) return std::nullopt;
    }
    const auto at = [&](const Expr& bound, bool at_last) {
        return constant_value(bound, *c.rows->var,
                              at_last ? last.value_or(0) - 1 : first.value_or(0));
    };
    const auto least = at(begin, begins == Trend::kFalls);
    const auto greatest = at(end, ends == Trend::kGrows);
    if (!least || !greatest) return std::nullopt;
    return std::max<std::int64_t>(0, *greatest - *least);
}

}  // namespace

std::optional<std::int64_t> constant_columns(const Contraction& c) {
    const Contraction::Bounds& columns = c.bounds.at(c.columns);
    return constant_span(c, *columns.begin, c.first_column, *columns.end, c.last_column);
}

std::optional<std::int64_t> constant_products(const Contraction& c) {
    std::int64_t sum = 0;
    for (const ContractionSteps& steps : c.steps) {
        const auto& loops = steps.ranges.front().loops;
        const auto first =
            constant_span(c, *c.bounds.at(loops.front()).begin, steps.begin,
                          *c.bounds.at(steps.ranges.back().loops.front()).end, steps.end);
        if (!first) return std::nullopt;
        std::int64_t products = *first * static_cast<std::int64_t>(steps.rights.size());
        for (std::size_t i = 1; i < loops.size(); ++i) {
            const auto trips = constant_trips(c, *loops[i]);
            if (!trips) return std::nullopt;
            products *= *trips;
        }
        sum += products;
    }
    return sum;
}

}  // namespace parpy
