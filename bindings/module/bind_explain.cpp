// Gives Python the result of explain() as plain dicts, which parpy.studies.explain lays out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "module/bind_jit.h"
#include "parpy/explain.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

nb::dict described(const Explanation::Loop& loop) {
    nb::dict out;
    out["key"] = loop.key;
    out["text"] = loop.text;
    out["line"] = loop.line;
    out["depth"] = loop.depth;
    const auto number = [](const std::optional<std::int64_t>& value) {
        return value ? nb::object(nb::int_(*value)) : nb::none();
    };
    out["variable"] = loop.variable;
    out["first"] = number(loop.first);
    out["step"] = number(loop.step);
    out["trips"] = loop.trips;
    out["exact"] = loop.exact;
    out["verdict"] = loop.verdict;
    out["reason"] = loop.reason;
    out["contraction"] = loop.contraction;
    out["steps"] = loop.steps;
    out["waves"] = loop.waves;
    out["time_tiles"] = loop.time_tiles;
    out["flattened"] = loop.flattened;
    out["witness"] = loop.witness;
    out["atomic"] = loop.atomic;
    out["level"] = loop.level;
    out["threads"] = loop.mapping.threads;
    out["reduce"] = loop.mapping.reduce;
    out["tpb"] = loop.mapping.threads_per_block;
    return out;
}

nb::dict explanation(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    Explanation found;
    std::optional<Options> tuned;
    look_at(call, [&](const Signature& signature, Diagnostics& diagnostics) {
        tuned = call.surface->tuned(signature, chosen);
        if (tuned) {
            Diagnostics attempt;
            found = explain(*call.surface->module, signature, *tuned, attempt);
            const bool fits = !attempt.has_errors() && !found.diagnostics.has_errors() &&
                              !found.diagnostics.contains(Code::kP301);
            if (!fits) tuned.reset();
        }
        if (!tuned) found = explain(*call.surface->module, signature, chosen, diagnostics);
    });
    const std::vector<Source>& sources = call.surface->module->sources;
    nb::list loops, kernels, arrays, notes;
    for (const Explanation::Loop& loop : found.loops)
        loops.append(described(loop));
    for (const Explanation::Kernel& kernel : found.kernels) {
        nb::dict out;
        out["name"] = kernel.name;
        out["cluster"] = nb::make_tuple(kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]);
        out["grid"] = nb::make_tuple(kernel.grid[0], kernel.grid[1], kernel.grid[2]);
        out["block"] = nb::make_tuple(kernel.block[0], kernel.block[1], kernel.block[2]);
        nb::list placed;
        for (const Explanation::Placed& each : kernel.loops) {
            nb::dict loop;
            loop["loop"] = each.loop;
            loop["level"] = each.level;
            loop["threads"] = each.threads;
            loop["blocks"] = each.blocks;
            placed.append(loop);
        }
        out["loops"] = placed;
        kernels.append(out);
    }
    for (const Explanation::Array& array : found.arrays) {
        nb::dict out;
        out["name"] = array.name;
        out["read"] = array.read;
        out["written"] = array.written;
        arrays.append(out);
    }
    for (const Diagnostic& diagnostic : found.diagnostics.all())
        notes.append(render(diagnostic, sources));
    nb::dict out;
    out["gpu"] = found.gpu_code;
    out["function"] = call.surface->module->entry_function()->name;
    out["backend"] = std::string(shown(chosen.backend));
    out["automatic"] = chosen.automatic;
    out["tuned"] = tuned.has_value();
    const Options& used = tuned ? *tuned : chosen;
    nb::dict beside;  // the choices beside the mapping
    beside["max_unroll_count"] = used.max_unroll_count;
    beside["use_cuda_thread_block_clusters"] = used.use_cuda_thread_block_clusters;
    beside["max_thread_blocks_per_cluster"] = used.max_thread_blocks_per_cluster;
    out["beside"] = beside;
    out["restructured"] = found.restructured;
    out["refused"] = found.diagnostics.has_errors();
    out["loops"] = loops;
    out["kernels"] = kernels;
    out["arrays"] = arrays;
    out["inlined"] = found.inlined;
    out["flops"] = found.flops;
    out["notes"] = notes;
    return out;
}

}  // namespace

void bind_explain(nb::module_& m) {
    m.def("explain", explanation, "function"_a, "arguments"_a, "options"_a.none(),
          "The facts that the compiler knows about a call, and its decisions.");
}

}  // namespace parpy
