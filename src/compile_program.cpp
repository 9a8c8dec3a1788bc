// compile(): a copy of the surface module through the pipeline (compile.cpp) to the emitter.
#include <exception>
#include <unordered_map>

#include "analysis/pragmas.h"
#include "emit/emit.h"
#include "ir/clone.h"
#include "ir/depth.h"
#include "ir/visit.h"
#include "parpy/compile.h"
#include "passes/mapped/choose_mapping.h"
#include "passes/pass.h"
#include "support/deep_stack.h"

namespace parpy {
namespace {

std::vector<std::vector<ArgumentBound>> requirements_of(const ir::Module& module) {
    std::vector<std::vector<ArgumentBound>> result;
    for (const ir::Requirement& requirement : module.requirements) {
        auto& alternatives = result.emplace_back();
        for (const ir::ParameterBound& from : requirement) {
            ArgumentBound& bound = alternatives.emplace_back();
            bound.constant = from.constant;
            for (const auto& [var, coefficient] : from.terms) {
                const bool extent = var->origin.kind == ir::Origin::Kind::kExtent;
                bound.terms.push_back({extent ? Slot::Kind::kExtent : Slot::Kind::kScalar,
                                       var->origin.argument, var->origin.dimension, coefficient});
            }
        }
    }
    return result;
}

std::vector<std::pair<int, std::size_t>> counted_kernels(const ir::Module& module) {
    std::vector<std::pair<int, std::size_t>> result;
    std::unordered_map<const ir::Function*, int> numbers;
    for (const ir::Function* function : module.functions) {
        if (function->kind == ir::FunctionKind::kKernel)
            numbers.emplace(function, static_cast<int>(numbers.size()));
    }
    ir::for_each_stmt(module.entry_function()->body, [&](const ir::Stmt& stmt) {
        const auto* launch = stmt.as<ir::Launch>();
        if (launch != nullptr && launch->noted)
            result.emplace_back(numbers.at(launch->kernel), *launch->noted);
    });
    return result;
}

Program compile_as(const ir::Module& surface, const Signature& signature, const Options& options,
                   Diagnostics& diagnostics, const Trace& trace) {
    ir::Module module = ir::clone(surface);
    PassContext context{module, options, signature, diagnostics};
    if (!run_passes(context, pipeline(options.backend), trace)) return {};
    Program program = emit_program(module, options.backend, options);
    program.requirements = requirements_of(module);
    program.counted = counted_kernels(module);
    return program;
}

// Compiles on the caller's stack.
Program compile_here(const ir::Module& surface, const Signature& signature, const Options& given,
                     Diagnostics& diagnostics, const Trace& trace) {
    const Options options = with_pragmas(surface, given);
    if (options.backend == Backend::kSim && options.checks_races() &&
        !ir::is_by_hand(*surface.entry_function())) {
        // Loops that are checked for races run in sequence, and hence in host code.
        Options on_cpu = options;
        on_cpu.backend = Backend::kCpu;
        return compile_here(surface, signature, on_cpu, diagnostics, trace);
    }
    if (!options.automatic) return compile_as(surface, signature, options, diagnostics, trace);
    // Automatic mode chose the mapping: if it fails, the program is compiled without it.
    Diagnostics attempt;
    Program program = compile_as(surface, signature, options, attempt, trace);
    if (!attempt.has_errors()) {
        for (const Diagnostic& note : attempt.all())
            diagnostics.report(note);
        return program;
    }
    Options sequential = options;
    sequential.automatic = false;
    program = compile_as(surface, signature, sequential, diagnostics, trace);
    note_given_up(attempt, diagnostics);
    return program;
}

}  // namespace

Program compile(const ir::Module& surface, const Signature& signature, const Options& options,
                Diagnostics& diagnostics, const Trace& trace) {
    try {
        Program program;
        where_it_fits(ir::nests_deeply(surface), [&] {
            program = compile_here(surface, signature, options, diagnostics, trace);
        });
        return program;
    } catch (const std::exception& e) {
        diagnostics.internal({}, std::string("the compiler failed: ") + e.what());
        return {};
    }
}

}  // namespace parpy
