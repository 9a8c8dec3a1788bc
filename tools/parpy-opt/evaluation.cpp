// See evaluation.h.
#include "evaluation.h"

#include <algorithm>
#include <cstddef>
#include <iostream>

#include "ir/builder.h"
#include "ir/eval/eval.h"
#include "ir/eval/ops.h"
#include "ir/text/print.h"

namespace parpy {
namespace {

// A number that depends only on the position: small, of both signs if the type has them.
ir::Constant pattern(ir::Scalar type, std::size_t parameter, std::int64_t index) {
    const std::int64_t value = (index * 37 + static_cast<std::int64_t>(parameter) * 11) % 23;
    if (ir::is_integer(type) || type == ir::Scalar::kBool) {
        const bool is_signed = ir::is_signed_integer(type);
        return ir::convert_constant(ir::Constant{is_signed ? value - 7 : value}, ir::Scalar::kI64,
                                    type);
    }
    return ir::convert_constant(ir::Constant{static_cast<double>(value - 7) * 0.5},
                                ir::Scalar::kF64, type);
}

// The arguments of one evaluation, and the memory of their arrays.
struct EvalData {
    std::vector<ir::EvalArgument> arguments;
    std::vector<std::vector<std::byte>> memory;
};

std::int64_t scalar_value(const Arguments& arguments, const ir::Var& var) {
    const auto found = arguments.values.find(var.name);
    return found == arguments.values.end() ? 3 : static_cast<std::int64_t>(found->second);
}

void add_array(const Arguments& arguments, const ir::Var& param, EvalData& data) {
    ir::ArrayView view;
    view.element = param.type.scalar;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    for (const ir::Dim& dim : param.dims) {
        const auto size = [&](const std::optional<std::int64_t>& constant, const ir::Var* var) {
            return constant || var == nullptr ? constant.value_or(1)
                                              : scalar_value(arguments, *var);
        };
        view.extents.push_back(size(dim.extent, dim.extent_var));
        view.strides.push_back(size(dim.stride, dim.stride_var));
        const std::int64_t reach =
            std::max<std::int64_t>(view.extents.back() - 1, 0) * view.strides.back();
        (reach < 0 ? lowest : highest) += reach;
    }
    const int size = ir::size_in_bytes(view.element);
    auto& bytes = data.memory.emplace_back(static_cast<std::size_t>((highest - lowest + 1) * size));
    for (std::int64_t i = 0; i <= highest - lowest; ++i) {
        ir::store_element(view.element, bytes.data() + i * size,
                          pattern(view.element, data.arguments.size(), i));
    }
    view.data = bytes.data() - lowest * size;
    data.arguments.emplace_back(std::move(view));
}

void print_array(const ir::Var& param, const std::vector<std::byte>& bytes, ir::Module& scratch) {
    const int size = ir::size_in_bytes(param.type.scalar);
    ir::Builder builder(scratch);
    std::cout << param.name << ':';
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(size)) {
        const ir::Constant value = ir::load_element(param.type.scalar, bytes.data() + at);
        std::cout << ' ' << ir::print(*builder.constant(ir::Type::of(param.type.scalar), value));
    }
    std::cout << '\n';
}

}  // namespace

bool evaluate_and_print(const Arguments& arguments, const ir::Module& module, ir::Profile profile,
                        Diagnostics& diagnostics) {
    EvalData data;
    const ir::Function& entry = *module.entry_function();
    for (const ir::Var* param : entry.params) {
        if (param->type.is_array()) {
            add_array(arguments, *param, data);
        } else {
            const auto found = arguments.values.find(param->name);
            const double value = found == arguments.values.end() ? 3 : found->second;
            data.arguments.emplace_back(
                ir::convert_constant(ir::Constant{value}, ir::Scalar::kF64, param->type.scalar));
        }
    }
    ir::EvalOptions options{.profile = profile};
    options.max_steps = arguments.steps.value_or(options.max_steps);
    const ir::EvalResult result = ir::evaluate(module, data.arguments, options);
    if (!result.ok()) {
        if (result.failure) {
            diagnostics.report(*result.failure);
        } else {
            diagnostics.error(Code::kP802, result.span, result.error);
        }
        return false;
    }
    ir::Module scratch;
    std::size_t next = 0;
    for (const ir::Var* param : entry.params) {
        if (param->type.is_array()) {
            print_array(*param, data.memory[next++], scratch);
        }
    }
    if (result.value && entry.result.is_scalar()) {
        std::cout << "returned: "
                  << ir::print(*ir::Builder(scratch).constant(entry.result, *result.value)) << '\n';
    }
    return true;
}

}  // namespace parpy
