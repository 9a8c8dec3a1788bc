// _native.interpret: a call run by the reference interpreter on the caller's own arrays. The oracle
// of the operator tests; users never run it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <deque>
#include <string>
#include <vector>

#include "analysis/pragmas.h"
#include "ir/clone.h"
#include "ir/eval/eval.h"
#include "module/bind_jit.h"
#include "passes/pass.h"
#include "raise.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

ir::EvalArgument array_argument(const ArgumentView& view) {
    ir::ArrayView array{view.data, view.scalar(), {}, {}};
    for (int d = 0; d < view.rank(); ++d) {
        array.extents.push_back(view.extents[d]);
        array.strides.push_back(view.strides[d] / ir::size_in_bytes(view.scalar()));
    }
    return array;
}

ir::EvalArgument argument_for(const ir::Var& param, Arguments views) {
    const ArgumentView& view = views[param.origin.argument];
    const auto dimension = static_cast<std::size_t>(param.origin.dimension);
    switch (param.origin.kind) {
        case ir::Origin::Kind::kExtent:
            return ir::Constant{view.extents[dimension]};
        case ir::Origin::Kind::kStride:
            return ir::Constant{view.strides[dimension] / ir::size_in_bytes(view.scalar())};
        case ir::Origin::Kind::kArgument:
        case ir::Origin::Kind::kNone:
            break;
    }
    if (view.is_array()) return array_argument(view);
    const std::uint64_t slot[] = {view.value, view.imaginary};
    return ir::load_element(param.type.scalar, slot);
}

// The passes up to and including `until`, from the back end's pipeline if it comes before its
// kernels, which cannot be interpreted, otherwise from the CPU's; all of the CPU's if `until` is
// empty.
std::vector<Pass> passes_until(Backend backend, const std::string& until) {
    if (until.empty()) {
        const std::span<const Pass> all = pipeline(Backend::kCpu);
        return {all.begin(), all.end()};
    }
    for (const Backend searched : {backend, Backend::kCpu}) {
        std::vector<Pass> passes;
        for (const Pass& pass : pipeline(searched)) {
            if (searched != Backend::kCpu && pass.after >= ir::Profile::kKernels) break;
            passes.push_back(pass);
            if (pass.name == until) return passes;
        }
    }
    throw nb::value_error(("no pass '" + until + "'").c_str());
}

void interpret(nb::handle function, nb::tuple arguments, nb::handle options,
               const std::string& until) {
    Call call(function, arguments);
    const Options chosen = with_pragmas(*call.surface->module, chosen_options(options, call));
    const std::vector<Pass> passes = passes_until(chosen.backend, until);
    const Signature signature = call.surface->signature(call.views);
    ir::Module module = ir::clone(*call.surface->module);
    Diagnostics diagnostics;
    PassContext context{module, chosen, signature, diagnostics};
    call.surface->check(signature, diagnostics);
    if (!diagnostics.has_errors() && run_passes(context, passes)) {
        std::vector<ir::EvalArgument> values;
        std::deque<std::complex<double>>
            results;  // the program's results, which the caller does not need
        for (const ir::Var* param : module.entry_function()->params) {
            if (param->origin.argument >= call.views.size()) {
                values.push_back(
                    ir::ArrayView{&results.emplace_back(), param->type.scalar, {1}, {1}});
            } else {
                values.push_back(argument_for(*param, call.views));
            }
        }
        const ir::EvalOptions limits{.profile = passes.back().after};
        const ir::EvalResult result = ir::evaluate(module, values, limits);
        if (result.failure) {
            diagnostics.report(*result.failure);
        } else if (!result.ok()) {
            diagnostics.error(Code::kP802, result.span, result.error);
        }
    }
    if (diagnostics.has_errors()) {
        set_python_error(diagnostics, module.sources);
        nb::raise_python_error();
    }
}

}  // namespace

void bind_eval(nb::module_& m) {
    m.def("interpret", interpret, "function"_a, "arguments"_a, "options"_a, "until"_a = "",
          "Runs a jit function in the reference interpreter, after the passes up to `until`.");
}

}  // namespace parpy
