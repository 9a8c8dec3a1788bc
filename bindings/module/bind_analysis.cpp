// Gives Python the results of the dependence analysis: the facts about each loop of a call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>

#include "analysis/memory/dependences.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "module/bind_jit.h"
#include "passes/pass.h"
#include "raise.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

constexpr const char* kVerdicts[] = {"proved", "reduction", "refuted", "unknown"};
constexpr const char* kAccesses[] = {"read", "write", "update"};
constexpr const char* kDependences[] = {"flow", "anti", "output"};

nb::dict described(const Occurrence& instance) {
    nb::list iteration;
    for (const auto& [loop, value] : instance.iteration)
        iteration.append(nb::make_tuple(loop->var->shown(), value));
    nb::list element;
    for (const std::int64_t subscript : instance.element)
        element.append(subscript);
    nb::dict result;
    result["kind"] = kAccesses[static_cast<int>(instance.access->kind)];
    result["array"] = instance.access->array->name;
    result["element"] = nb::tuple(element);
    result["iteration"] = nb::tuple(iteration);
    result["line"] = instance.access->span.line;
    return result;
}

nb::dict described(const Dependence& dependence) {
    nb::dict result;
    result["kind"] = kDependences[static_cast<int>(dependence.kind)];
    result["array"] = dependence.source->array->name;
    result["exact"] = dependence.exact;
    result["commutes"] = dependence.commutes;
    const auto number = [](const std::optional<std::int64_t>& value) {
        return value ? nb::object(nb::int_(*value)) : nb::none();
    };
    result["distance"] =
        nb::make_tuple(number(dependence.least_distance), number(dependence.greatest_distance));
    nb::list witness;
    for (const Occurrence& instance : dependence.witness)
        witness.append(described(instance));
    result["witness"] = nb::tuple(witness);
    return result;
}

nb::tuple names(const std::vector<const ir::Var*>& vars) {
    nb::list result;
    for (const ir::Var* var : vars)
        result.append(var->shown());
    return nb::tuple(result);
}

nb::dict described(const ir::For& loop, const LoopFacts& facts) {
    nb::dict result;
    result["line"] = loop.span.line;
    result["variable"] = loop.var->shown();
    result["verdict"] = kVerdicts[static_cast<int>(facts.verdict)];
    result["reason"] = facts.reason;
    result["scatters"] = facts.scatters;
    nb::list dependences;
    for (const Dependence& dependence : facts.dependences)
        dependences.append(described(dependence));
    result["dependences"] = dependences;
    result["decisive"] = facts.decisive ? nb::object(described(*facts.decisive)) : nb::none();
    result["private"] = names(facts.private_scalars);
    result["carried"] = names(facts.carried_scalars);
    result["last_values"] = names(facts.last_values);
    return result;
}

// Facts about every loop of the function, in the order of the text, for exactly these arguments and
// no mapping.
nb::list loop_facts(nb::handle function, nb::tuple arguments) {
    Call call(function, arguments);
    std::vector<Pass> passes;
    for (const Pass& pass : pipeline(Backend::kCpu)) {
        if (pass.name == "check-bounds") break;
        passes.push_back(pass);
    }
    const Signature signature = call.surface->signature(call.views);
    const Options options;
    ir::Module module = ir::clone(*call.surface->module);
    Diagnostics diagnostics;
    PassContext context{module, options, signature, diagnostics};
    nb::list result;
    if (run_passes(context, passes)) {
        Dependences dependences(*module.entry_function());
        ir::for_each_stmt(module.entry_function()->body, [&](ir::Stmt& stmt) {
            auto* loop = stmt.as<ir::For>();
            if (loop != nullptr) result.append(described(*loop, dependences.of(*loop, true)));
        });
    }
    if (diagnostics.has_errors()) {
        set_python_error(diagnostics, module.sources);
        nb::raise_python_error();
    }
    return result;
}

// The seconds that each pass takes which these arguments and options need.
nb::dict pass_seconds(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    const Signature signature = call.surface->signature(call.views);
    ir::Module module = ir::clone(*call.surface->module);
    Diagnostics diagnostics;
    PassContext context{module, chosen, signature, diagnostics};
    nb::dict result;
    for (const Pass& pass : pipeline(chosen.backend)) {
        if (pass.wanted != nullptr && !pass.wanted(context)) continue;
        const auto start = std::chrono::steady_clock::now();
        pass.run(context);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        result[nb::str(pass.name.data(), pass.name.size())] = elapsed.count();
        if (diagnostics.has_errors()) break;
    }
    return result;
}

}  // namespace

void bind_analysis(nb::module_& m) {
    m.def("loop_facts", loop_facts, "function"_a, "arguments"_a,
          "The results of the dependence analysis for each loop of a jit function, for these "
          "arguments.");
    m.def("pass_seconds", pass_seconds, "function"_a, "arguments"_a, "options"_a,
          "The time of each pass of the compiler, for these arguments.");
}

}  // namespace parpy
