// Makes the entry's parameters from the Signature (specialize_arguments.h).
#include "passes/types/specialize_arguments.h"

namespace parpy {

using namespace ir;

namespace {

class Binder {
public:
    Binder(Module& module, std::vector<Var*>& params) : module_(module), params_(params) {}

    void bind(Var* param, const Argument& argument, std::size_t index) {
        param->type = argument.type;
        param->origin = {Origin::Kind::kArgument, index, 0};
        param->aliased = argument.aliased;
        param->placement = argument.placement;
        param->wide = argument.wide;
        param->limit = argument.limit;
        param->typical = argument.typical;
        if (argument.type.is_array()) {
            params_.push_back(param);
            bind_layout(param, argument, index);
        } else if (auto value = value_of(argument)) {
            param->constant = std::make_shared<Constant>(*value);
        } else {
            params_.push_back(param);
        }
    }

private:
    static std::optional<Constant> value_of(const Argument& argument) {
        if (argument.integer) {
            return argument.type.scalar == Scalar::kBool ? Constant{*argument.integer != 0}
                                                         : Constant{*argument.integer};
        }
        if (argument.real) {
            return Constant{*argument.real};
        }
        return std::nullopt;
    }

    void bind_layout(Var* array, const Argument& argument, std::size_t index) {
        using Kind = Origin::Kind;
        array->dims.clear();
        for (const Argument::Dim& from : argument.dims) {
            const int axis = static_cast<int>(array->dims.size());
            const auto at_run_time = [&](std::string_view what, Kind kind) {
                Var* var =
                    module_.make_var(array->name + "_" + std::string(what) + std::to_string(axis),
                                     Type::of(Scalar::kI64), array->span);
                var->origin = {kind, index, axis};
                var->limit = argument.limit;
                params_.push_back(var);
                return var;
            };
            Dim dim;
            dim.extent = from.extent;
            dim.stride = from.stride;
            dim.extent_var = from.extent ? nullptr : at_run_time("extent", Kind::kExtent);
            if (dim.extent_var != nullptr) dim.extent_var->typical = from.typical;
            dim.stride_var = from.stride ? nullptr : at_run_time("stride", Kind::kStride);
            array->dims.push_back(dim);
        }
    }

    Module& module_;
    std::vector<Var*>& params_;
};

}  // namespace

void specialize_arguments(PassContext& context) {
    Function& entry = *context.module.entry_function();
    const std::vector<Var*> declared = std::exchange(entry.params, {});
    if (declared.size() != context.signature.size()) {
        auto& error = context.diagnostics.error(
            Code::kP218, entry.span,
            "'" + entry.name + "' has " + std::to_string(declared.size()) +
                " parameters, the call " + std::to_string(context.signature.size()) + " arguments");
        error.help = "give one argument per parameter";
        return;
    }
    Binder binder(context.module, entry.params);
    for (std::size_t i = 0; i < declared.size(); ++i) {
        binder.bind(declared[i], context.signature[i], i);
    }
}

}  // namespace parpy
