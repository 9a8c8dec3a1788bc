// Gives Python the functions of the compiler besides calls: source text, the state of the cache,
// the pipeline.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "module/bind_jit.h"
#include "module/interface_text.h"
#include "parpy/compile.h"
#include "passes/pass.h"
#include "raise.h"
#include "runtime/cache/kernel_cache.h"
#include "runtime/calls/kernel_facts.h"
#include "runtime/calls/tunings.h"
#include "runtime/cpu/fork_gate.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

JitFunction* jit_function(nb::handle object) {
    if (!PyObject_TypeCheck(object.ptr(), jit_function_type())) {
        throw nb::type_error("expected a function decorated with parpy.jit");
    }
    return reinterpret_cast<JitFunction*>(object.ptr());
}

Call::Call(nb::handle callable, const nb::tuple& arguments)
    : function(jit_function(callable)), active(function) {
    if (!read_call(function, arguments.ptr(), *this)) nb::raise_python_error();
}

const ConvertedOptions& options_of(nb::handle options, const Call& call) {
    const ConvertedOptions* converted = nullptr;
    if (options.is_none()) {
        bool on_device = false;
        for (const ArgumentView& view : call.views) {
            on_device = on_device || (view.is_array() && view.on_device());
        }
        converted = default_options(on_device, call.function->defaults);
    } else if (is_options(options.ptr())) {
        converted = converted_options(options.ptr());
    } else {
        throw nb::type_error("opts must be a parpy.CompileOptions");
    }
    if (converted == nullptr) nb::raise_python_error();
    return *converted;
}

Options chosen_options(nb::handle options, const Call& call) {
    const ConvertedOptions& converted = options_of(options, call);
    return with_threads(*converted.record, converted.threads);
}

namespace {

// The names of the surface's arguments in the interface of its text.
std::vector<std::string> shown_arguments(const Surface& surface) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < surface.argument_count(); ++i)
        names.push_back(surface.shown(i));
    return names;
}

// The text of the program for exactly these arguments: nothing generalised, nothing cached.
std::string source_text(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    Diagnostics diagnostics;
    Program program;
    Signature signature;
    {
        const nb::gil_scoped_release released;
        const BehindForkGate gate;
        signature = call.surface->signature(call.views);
        program = call.surface->compiled(signature, chosen, diagnostics);
    }
    if (diagnostics.has_errors()) {
        set_python_error(diagnostics, call.surface->module->sources);
        nb::raise_python_error();
    }
    const auto parameters =
        nb::cast<std::vector<std::string>>(nb::handle(call.function->parameters));
    return interface_text(program, signature, parameters, shown_arguments(*call.surface),
                          call.surface->module->sources, chosen.backend) +
           program.text;
}

// The facts of the kernel for arguments like these; compiles and loads it if necessary.
nb::dict kernel_facts(nb::handle function, nb::tuple arguments, nb::handle options, unsigned block,
                      unsigned shared_bytes) {
    Call call(function, arguments);
    const ConvertedOptions& converted = options_of(options, call);
    Specializations& under =
        call.surface->under(converted.record, converted.threads).specializations;
    const Specialization* found = under.find(call.views);
    if (found == nullptr) found = specialize(*call.surface, under, call.views, false);
    if (found == nullptr) nb::raise_python_error();
    KernelFacts facts;
    if (const auto* kernels = dynamic_cast<const HasKernels*>(&found->executable())) {
        const RuntimeError error = kernels->facts(block, shared_bytes, facts);
        if (error.failed()) {
            set_python_error(error);
            nb::raise_python_error();
        }
    }
    nb::dict out;
    out["registers"] = facts.registers;
    out["shared_bytes"] = facts.shared_bytes;
    out["local_bytes"] = facts.local_bytes;
    out["constant_bytes"] = facts.constant_bytes;
    out["most_threads"] = facts.most_threads;
    out["best_block"] = facts.best_block;
    out["resident_blocks"] = facts.resident_blocks;
    return out;
}

// (specialisations, compilations, names of run-time values).
std::tuple<std::size_t, std::size_t, std::vector<std::string>> cache_info(nb::handle function) {
    const JitFunction* self = jit_function(function);
    const Surface* surface = self->state->surface.load();
    std::size_t specializations = 0;
    std::size_t builds = 0;
    std::vector<std::string> general;
    const auto add = [&](const std::string& name) {
        if (std::find(general.begin(), general.end(), name) == general.end())
            general.push_back(name);
    };
    std::vector<Specializations::Info> infos;
    const PerOptions* per = surface != nullptr ? surface->per_options.load() : nullptr;
    for (; per != nullptr; per = per->next) {
        const PerThreads* each = per->per_threads.load();
        for (; each != nullptr; each = each->next)
            infos.push_back(each->specializations.info());
    }
    for (const Specializations::Info& info : infos) {
        specializations += info.specializations;
        builds += info.builds;
        for (std::size_t i = 0; i < info.generality.positions.size(); ++i) {
            const Generality::Position& position = info.generality.positions[i];
            const std::string& name = surface->module->entry_function()->params[i]->name;
            if (position.value) add(name);
            for (int d = 0; d < kMaxRank; ++d) {
                if ((position.extents >> d & 1) != 0)
                    add(name + ".shape[" + std::to_string(d) + "]");
                if ((position.strides >> d & 1) != 0)
                    add(name + ".strides[" + std::to_string(d) + "]");
            }
        }
    }
    return {specializations, builds, general};
}

}  // namespace

void bind_compile(nb::module_& m) {
    PyTypeObject* type = jit_function_type();
    if (type == nullptr) nb::raise_python_error();
    m.attr("JitFunction") = nb::handle(reinterpret_cast<PyObject*>(type));

    m.def("kernel_facts", kernel_facts, "function"_a, "arguments"_a, "options"_a.none(), "block"_a,
          "shared_bytes"_a,
          "The resources of the kernel for such arguments; compiles and loads it.");
    m.def("source_text", source_text, "function"_a, "arguments"_a, "options"_a.none(),
          "The generated source for these arguments: device and host part.");
    m.def("cache_info", cache_info, "function"_a,
          "(specialisations, compilations, names of the values passed at run time) of a jit "
          "function.");
    m.def(
        "type_version",
        [](nb::handle type) -> unsigned {
            if (!PyType_Check(type.ptr())) throw nb::type_error("a type is needed");
            static PyObject* const name = PyUnicode_InternFromString("__dict__");
            auto* of = reinterpret_cast<PyTypeObject*>(type.ptr());
            _PyType_Lookup(of, name);  // gives it a version tag if it has none
            return of->tp_version_tag;
        },
        "type"_a,
        "A number that changes whenever the type or one of its bases does; 0 where Python counts "
        "no more of its changes.");
    m.def(
        "parse_anew", [](nb::handle function) { jit_function(function)->state->surface = nullptr; },
        "function"_a, "The next call of the jit function parses it again.");
    m.def(
        "clear_cache",
        [](bool on_disk) {
            ++cache_generation;
            if (on_disk) KernelCache::instance().clear();
            Tunings::instance().clear();
            if (!warn_of_cache()) nb::raise_python_error();
        },
        "on_disk"_a = true);
    m.def(
        "pipeline",
        [](const std::string& backend) {
            std::vector<std::pair<std::string, std::string>> rows;
            for (const Pass& pass : pipeline(backend_named(backend).value_or(Backend::kCpu))) {
                rows.emplace_back(std::string(pass.name), std::string(pass.why_here));
            }
            return rows;
        },
        "backend"_a, "(name, reason for its place) of every pass of a back end, in order.");
}

}  // namespace parpy
