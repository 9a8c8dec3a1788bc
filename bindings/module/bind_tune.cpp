// Serves parpy.tune: the mappings near a given one, the mapping that is remembered for a call, the
// arguments that a call writes, and the memory of an array of any library.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "module/bind_jit.h"
#include "parpy/tune.h"
#include "runtime/calls/tunings.h"
#include "runtime/cpu/thread_pool.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

// The fields of parpy.CompileOptions; loops as (threads, reduce, tpb).
nb::dict fields_of(const Tuned& tuned) {
    nb::dict loops, out;
    for (const auto& [name, loop] : tuned.mapping)
        loops[name.c_str()] = nb::make_tuple(loop.threads, loop.reduce, loop.threads_per_block);
    out["parallelize"] = loops;
    out["automatic"] = tuned.automatic;
    out["restructure"] = tuned.restructure;
    out["max_unroll_count"] = tuned.max_unroll_count;
    out["use_cuda_thread_block_clusters"] = tuned.use_cuda_thread_block_clusters;
    out["max_thread_blocks_per_cluster"] = tuned.max_thread_blocks_per_cluster;
    return out;
}

nb::dict neighbours(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    Neighbourhood found;
    look_at(call, [&](const Signature& signature, Diagnostics& diagnostics) {
        found =
            neighbourhood(*call.surface->module, signature, chosen, worker_count(), diagnostics);
    });
    nb::list others;
    for (const Neighbour& each : found.neighbours)
        others.append(
            nb::make_tuple(each.change, fields_of(each.tuned), each.slowdown, each.starts));
    nb::dict out;
    out["backend"] = std::string(shown(chosen.backend));
    out["loops"] = found.loops;
    out["parallel"] = found.parallel;
    out["start"] = fields_of(found.start);
    out["neighbours"] = others;
    return out;
}

std::string key_of(const Call& call, const Options& options) {
    return call.surface->tuning_key(signature_of(call), options);
}

nb::object recall(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    const auto found = Tunings::instance().get(key_of(call, chosen), call.surface->first_line());
    if (!found) return nb::none();
    return nb::make_tuple(fields_of(found->tuned), found->seconds, found->automatic_seconds);
}

void remember(nb::handle function, nb::tuple arguments, nb::handle options, nb::handle best,
              double seconds, double automatic_seconds) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    const Tuning tuning{tuned_part(chosen_options(best, call)), seconds, automatic_seconds};
    Tunings::instance().put(key_of(call, chosen), tuning, call.surface->first_line());
}

// Compiles for such a call and loads the program, without running it.
void prepare(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const ConvertedOptions& converted = options_of(options, call);
    Specializations& under =
        call.surface->under(converted.record, converted.threads).specializations;
    if (under.find(call.views) == nullptr &&
        specialize(*call.surface, under, call.views, false) == nullptr) {
        nb::raise_python_error();
    }
}

// Makes later calls compile again.
void forget_compiled(nb::handle function) {
    jit_function(function)->state->generation.store(0, std::memory_order_relaxed);
}

// The parameters that a call may store to, as (index, key of a dict or None), and the captured
// arrays that it may store to.
nb::tuple written_arguments(nb::handle function, nb::tuple arguments) {
    Call call(function, arguments);
    const Surface& surface = *call.surface;
    nb::list parameters, captured;
    for (std::size_t i = 0; i < surface.leaves.size() + surface.captures.size(); ++i) {
        if ((surface.written & argument_bit(i)) == 0 || !call.views[i].is_array()) continue;
        if (i < surface.leaves.size()) {
            const Leaf& leaf = surface.leaves[i];
            parameters.append(nb::make_tuple(
                leaf.parameter, leaf.key != nullptr ? nb::borrow(leaf.key) : nb::none()));
        } else {
            captured.append(nb::steal(surface.captures[i - surface.leaves.size()].read_new()));
        }
    }
    return nb::make_tuple(parameters, captured);
}

// The memory of an array; None for other objects. "stream": that of its library, if it names one.
nb::object array_view(nb::handle object) {
    Intake intake;
    ArgumentView view{};
    IntakeFault fault;
    if (!take_fast(object.ptr(), view) && !intake.take(object.ptr(), view, fault)) {
        PyErr_Clear();
        return nb::none();
    }
    if (!view.is_array() || intake.has_copies()) return nb::none();
    nb::list shape, strides;
    for (int d = 0; d < view.rank(); ++d) {
        shape.append(view.extents[d]);
        strides.append(view.strides[d]);
    }
    nb::dict out;
    out["pointer"] = reinterpret_cast<std::uintptr_t>(view.data);
    out["shape"] = nb::tuple(shape);
    out["strides"] = nb::tuple(strides);
    out["scalar"] = std::string(ir::name(view.scalar()));
    out["read_only"] = view.read_only();
    out["device"] = view.on_device() ? nb::object(nb::int_(view.device())) : nb::none();
    out["stream"] = intake.stream ? nb::object(nb::int_(*intake.stream)) : nb::none();
    return out;
}

}  // namespace

void bind_tune(nb::module_& m) {
    m.def("neighbours", neighbours, "function"_a, "arguments"_a, "options"_a.none(),
          "The mappings one step away from that of a call.");
    m.def("recall", recall, "function"_a, "arguments"_a, "options"_a.none(),
          "The stored best mapping of a call: (options, seconds, seconds of the automatic mode) or "
          "None.");
    m.def("remember", remember, "function"_a, "arguments"_a, "options"_a.none(), "best"_a,
          "seconds"_a, "automatic_seconds"_a,
          "Automatic calls like this one use `best` from now on.");
    m.def("prepare", prepare, "function"_a, "arguments"_a, "options"_a.none(),
          "Compiles for a call; other threads may run meanwhile.");
    m.def("forget_compiled", forget_compiled, "function"_a, "Later calls are compiled again.");
    m.def("written_arguments", written_arguments, "function"_a, "arguments"_a,
          "The parameters, and the captured arrays, that a call may store to.");
    m.def("array_view", array_view, "object"_a.none(),
          "The place of the elements of an array of any library; None for other objects.");
}

}  // namespace parpy
