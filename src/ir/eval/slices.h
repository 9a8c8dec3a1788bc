// Statements over slices, as the reference interpreter runs them before lower_slices: whole arrays
// of values, as NumPy computes them. Shares nothing with that pass, which is tested against it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/eval/eval.h"

namespace parpy::ir {

// The interpreter's services to evaluators of slices.
struct SliceHost {
    std::function<Constant(const Expr&)> scalar;
    std::function<const ArrayView*(const Var&, Span)> array;  // null after an error
    std::function<Constant(const Expr&, std::span<const Constant>)> apply;
    std::function<Constant(const Store&, Constant old, Constant value)> update;
    std::function<void(Span, std::string)> fail;
    std::function<bool()> failed;
};

// The value of an expression without dimensions.
[[nodiscard]] Constant evaluate_slices(const SliceHost& host, const Expr& expr);
// The elements that a load of slices (is_view) names, not copied; null after an error.
[[nodiscard]] std::optional<ArrayView> view_of_slices(const SliceHost& host, const Expr& load);
// The shape and, in C order, the values of an expression.
struct SliceValues {
    std::vector<std::int64_t> extents;
    std::vector<Constant> values;
};
[[nodiscard]] SliceValues values_of_slices(const SliceHost& host, const Expr& expr);
// array[slices] = value, or an update; all values are computed before the first store.
void store_slices(const SliceHost& host, const Store& store);

}  // namespace parpy::ir
