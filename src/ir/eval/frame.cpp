// See frame.h.
#include "ir/eval/frame.h"

#include <utility>

namespace parpy::ir {

void EvalError::report(Span where, std::string what) {
    if (any()) return;
    message = std::move(what);
    span = where;
}

std::int64_t integer(const Constant& value) {
    const auto* number = std::get_if<std::int64_t>(&value.value);
    return number != nullptr ? *number : 0;
}

void Frame::enter(const Function& function, std::vector<EvalArgument> arguments, Span span) {
    if (arguments.size() != function.params.size()) {
        error_.report(span, "'" + function.name + "' takes " +
                                std::to_string(function.params.size()) + " arguments, not " +
                                std::to_string(arguments.size()));
        return;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        values_[function.params[i]] = std::move(arguments[i]);
    }
    for (const Var* param : function.params) {
        check(*param, span);
    }
}

void Frame::check(const Var& param, Span span) {
    const auto* view = std::get_if<ArrayView>(&values_.at(&param));
    if ((view != nullptr) != param.type.is_array()) {
        error_.report(span, "argument '" + param.name + "' should be " +
                                (view != nullptr ? "a scalar" : "an array"));
        return;
    }
    if (view == nullptr) return;
    if (view->element != param.type.scalar || view->extents.size() != param.type.rank) {
        error_.report(span, "array argument '" + param.name + "' has another element type or rank");
        return;
    }
    for (std::size_t i = 0; i < param.dims.size(); ++i) {
        const Dim& dim = param.dims[i];
        check(param, dim.extent, dim.extent_var, view->extents[i], span);
        check(param, dim.stride, dim.stride_var, view->strides[i], span);
    }
}

void Frame::check(const Var& param, const std::optional<std::int64_t>& constant,
                  const Var* variable, std::int64_t actual, Span span) {
    std::optional<std::int64_t> expected = constant;
    if (!constant && variable != nullptr) {
        const auto [entry, is_new] = values_.try_emplace(variable, Constant{actual});
        const auto* value = std::get_if<Constant>(&entry->second);
        expected = value != nullptr ? integer(*value) : actual;
    }
    if (expected && *expected != actual) {
        error_.report(span, "array argument '" + param.name + "' has an extent or stride of " +
                                std::to_string(actual) + " where " + std::to_string(*expected) +
                                " is promised");
    }
}

void Frame::set(const Var& var, EvalArgument value) {
    values_[&var] = std::move(value);
}

Constant Frame::read(const Var& var, Span span) {
    const auto found = values_.find(&var);
    if (found != values_.end()) {
        if (const auto* value = std::get_if<Constant>(&found->second)) return *value;
    } else if (var.constant) {
        return *var.constant;
    }
    error_.report(span, "variable '" + var.name + "' is read before it has a value");
    return {};
}

const ArrayView* Frame::array(const Var& var, Span span) {
    const auto found = values_.find(&var);
    const auto* view = found != values_.end() ? std::get_if<ArrayView>(&found->second) : nullptr;
    if (view == nullptr) {
        error_.report(span, "array '" + var.name + "' is used before it is made");
    }
    return view;
}

std::int64_t Frame::size(const std::optional<std::int64_t>& constant, const Var* variable,
                         Span span) {
    return constant ? *constant : integer(read(*variable, span));
}

}  // namespace parpy::ir
