// The work that is done once per specialisation: parsing the function, compiling it for the
// arguments, and reporting every error.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "analysis/memory/stored_parameters.h"
#include "calls/foreign_errors.h"
#include "calls/jit_function.h"
#include "calls/nvrtc_paths.h"
#include "ir/depth.h"
#include "ir/text/print.h"
#include "ir/visit.h"
#include "owned.h"
#include "parpy/compile.h"
#include "raise.h"
#include "runtime/calls/tunings.h"
#include "runtime/cpu/fork_gate.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/device.h"
#include "support/backend.h"
#include "support/deep_stack.h"

namespace nb = nanobind;

namespace parpy {

std::atomic<std::uint64_t> cache_generation{1};

namespace {

Place place_of(nb::handle record) {
    Place place;
    place.container = nb::object(record.attr("container")).release().ptr();
    place.key = nb::object(record.attr("key")).release().ptr();
    if (PyUnicode_CheckExact(place.key)) PyUnicode_InternInPlace(&place.key);
    return place;
}

// The parameters that `entry` may store to, a bit each.
std::uint64_t stored_parameters(const ir::Function& entry) {
    const VarSet stored = possibly_stored(entry);
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
        if (stored.contains(entry.params[i])) result |= argument_bit(i);
    }
    return result;
}

}  // namespace

// ---------------------------------------------------------------- the parsed function

Surface::Surface(PyObject* parsed, PyObject* parameters) {
    const nb::handle source(parsed);
    const nb::object missing = nb::module_::import_("parpy.syntax.names").attr("MISSING");
    for (nb::handle item : source.attr("guards")) {
        nb::object value = item.attr("value");
        guards.add(place_of(item), value.is(missing) ? nullptr : value.release().ptr());
    }
    parsed_ = Py_NewRef(parsed);
    if (nb::hasattr(source, "driver")) {
        driver = nb::object(source.attr("driver")).release().ptr();
        return;
    }
    module = nb::cast<const ir::Module*>(source.attr("module"));
    deep = ir::nests_deeply(*module);
    where_it_fits(deep, [&] { written = stored_parameters(*module->entry_function()); });
    general = nb::cast<bool>(source.attr("general"));
    classes = nb::object(source.attr("classes")).release().ptr();
    for (nb::handle param : source.attr("params")) {
        Leaf leaf;
        const Py_ssize_t index = PySequence_Index(parameters, nb::object(param.attr("name")).ptr());
        if (index < 0) nb::raise_python_error();
        leaf.parameter = static_cast<std::size_t>(index);
        if (nb::object key = param.attr("key"); !key.is_none()) leaf.key = key.release().ptr();
        leaf.unused = nb::cast<bool>(param.attr("unused"));
        leaf.generator = nb::cast<bool>(param.attr("generator"));
        plain = plain && leaf.key == nullptr && leaf.parameter == leaves.size();
        leaves.push_back(leaf);
    }
    annotations.read(nb::object(source.attr("annotations")).ptr());
    for (nb::handle capture : source.attr("captures")) {
        captures.push_back(place_of(capture));
        captured_generators.push_back(nb::cast<bool>(capture.attr("generator")));
    }
}

Surface::~Surface() {
    for (PerOptions* each = per_options.load(); each != nullptr;) {
        delete std::exchange(each, each->next);
    }
    for (Leaf& leaf : leaves)
        Py_XDECREF(leaf.key);
    for (Place& capture : captures)
        capture.release();
    Py_XDECREF(driver);
    Py_XDECREF(classes);
    Py_XDECREF(parsed_);
}

int Surface::traverse(visitproc visit, void* arg) const {
    Py_VISIT(parsed_);
    Py_VISIT(driver);
    Py_VISIT(classes);
    for (const Place& capture : captures)
        Py_VISIT(capture.container);
    return guards.traverse(visit, arg);
}

PerOptions::PerOptions(const OptionsRecord* r, PerOptions* n)
    : record(r),
      settled(r->options.backend == Backend::kCpu
                  ? ThreadCounts(ThreadCounts::Round::kDown, worker_count())
                  : ThreadCounts(ThreadCounts::Round::kUp, 0)),
      next(n) {}

PerOptions::~PerOptions() {
    for (PerThreads* each = per_threads.load(); each != nullptr;) {
        delete std::exchange(each, each->next);
    }
}

PerThreads& Surface::under(const OptionsRecord* record, const std::vector<std::int64_t>& threads) {
    const auto under_record = [&]() -> PerOptions* {
        PerOptions* each = per_options.load(std::memory_order_acquire);
        while (each != nullptr && each->record != record)
            each = each->next;
        return each;
    };
    PerOptions* per = under_record();
    if (per != nullptr) {
        if (PerThreads* found = per->find(threads)) return *found;
    }
    const std::lock_guard lock(mutex_);
    if (per = under_record(); per == nullptr) {
        per = new PerOptions(record, per_options.load(std::memory_order_relaxed));
        per_options.store(per, std::memory_order_release);
    }
    const std::vector<std::int64_t> counts = per->settled.settle(threads);
    if (PerThreads* found = per->find(counts)) return *found;
    auto* made = new PerThreads(*record, counts, written, generality(),
                                per->per_threads.load(std::memory_order_relaxed));
    per->per_threads.store(made, std::memory_order_release);
    return *made;
}

Generality Surface::generality() const {
    return general ? all_general(leaves.size(), argument_count()) : Generality{};
}

Signature Surface::signature(Arguments arguments) const {
    return make_signature(arguments, generality(), overlapping(arguments, written));
}

Span Surface::place(std::size_t argument) const {
    const auto& params = module->entry_function()->params;
    return argument < params.size() ? params[argument]->span : Span{};
}

std::string Surface::shown(std::size_t argument) const {
    const auto& params = module->entry_function()->params;
    const std::string name = argument < params.size() ? params[argument]->name : "?";
    if (argument >= argument_count())
        return "result " + std::to_string(argument - argument_count());
    if (argument >= leaves.size()) return "global " + name;
    if (leaves[argument].key == nullptr) return name;
    const nb::object param = nb::handle(parsed_).attr("params")[argument];
    const nb::object key = nb::repr(nb::handle(leaves[argument].key));
    return nb::cast<std::string>(param.attr("name")) + "[" + nb::cast<std::string>(key) + "]";
}

std::string Surface::describe(std::size_t argument) const {
    std::string name = shown(argument);
    std::string kind = "argument";
    if (argument >= argument_count()) return name;
    if (argument >= leaves.size()) {
        const nb::object capture = nb::handle(parsed_).attr("captures")[argument - leaves.size()];
        kind = nb::cast<std::string>(capture.attr("kind"));
        name = nb::cast<std::string>(capture.attr("name"));
    }
    return kind + " " + (name.ends_with(']') ? name : "'" + name + "'");
}

void Surface::check(const Signature& signature, Diagnostics& diagnostics) const {
    annotations.check(signature,
                      {[this](std::size_t argument) { return describe(argument); },
                       [this](std::size_t argument) { return place(argument); }},
                      diagnostics);
}

Program Surface::compiled(const Signature& signature, const Options& options,
                          Diagnostics& diagnostics, const Trace& trace) const {
    check(signature, diagnostics);
    if (diagnostics.has_errors()) return {};
    if (const std::optional<Options> chosen = tuned(signature, options)) {
        // The user did not choose these options: if they do not fit any more, the automatic mode
        // chooses.
        Diagnostics attempt;
        Program program = compile(*module, signature, *chosen, attempt, trace);
        if (!attempt.has_errors() && !attempt.contains(Code::kP301)) {
            for (const Diagnostic& note : attempt.all())
                diagnostics.report(note);
            annotations.require(signature, program);
            program.counted.clear();
            return program;
        }
    }
    Program program = compile(*module, signature, options, diagnostics, trace);
    annotations.require(signature, program);
    return program;
}

std::string Surface::tuning_key(const Signature& signature, const Options& options) const {
    std::call_once(printed_, [&] {
        where_it_fits(deep, [&] {
            text_ = ir::print(*module);
            // Mappings name loops by their lines.
            for (const ir::Function* function : module->functions) {
                ir::for_each_stmt(function->body, [&](const ir::Stmt& stmt) {
                    if (stmt.kind == ir::StmtKind::kFor)
                        text_ += std::to_string(stmt.span.line - first_line()) + ' ';
                });
            }
        });
    });
    return parpy::tuning_key(text_, signature, options);
}

std::optional<Options> Surface::tuned(const Signature& signature, const Options& options) const {
    if (!options.automatic || general) return std::nullopt;
    const auto found = Tunings::instance().get(tuning_key(signature, options), first_line());
    if (!found || found->tuned.automatic) return std::nullopt;
    Options chosen = with_tuned(options, found->tuned);
    if (chosen.legality == Legality::kCheck) chosen.legality = Legality::kStrict;
    return chosen;
}

Surface* current_surface(JitFunction* self) {
    JitFunction::State& state = *self->state;
    Surface* surface = state.surface.load(std::memory_order_acquire);
    const std::uint64_t generation = cache_generation.load(std::memory_order_relaxed);
    if (surface != nullptr && state.generation.load(std::memory_order_relaxed) == generation &&
        surface->guards.hold()) {
        return surface;
    }
    // Parsing runs Python code, so the lock is not held meanwhile; the later of two threads wins.
    try {
        const nb::object parsed = nb::steal(PyObject_CallNoArgs(self->parse));
        if (!parsed.is_valid()) return nullptr;
        auto made = std::make_unique<Surface>(parsed.ptr(), self->parameters);
        const std::lock_guard lock(state.mutex);
        // This call is itself in flight. If it is the only one, earlier surfaces are unused.
        if (state.active.load() <= 1) {
            state.surface = nullptr;
            state.surfaces.clear();
        }
        state.surfaces.push_back(std::move(made));
        state.surface.store(state.surfaces.back().get(), std::memory_order_release);
        state.generation.store(generation, std::memory_order_relaxed);
        return state.surfaces.back().get();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

// ---------------------------------------------------------------- errors

void raise_fault(const Surface& surface, std::size_t argument, const IntakeFault& fault) {
    const std::string what = surface.describe(argument);
    if (!fault.code) {
        // The object's own protocol raised: add the argument's name.
        PyObject* type = nullptr;
        PyObject* value = nullptr;
        PyObject* trace = nullptr;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        const std::string note = "while ParPy read " + what;
        PyObject* noted =
            value != nullptr ? PyObject_CallMethod(value, "add_note", "s", note.c_str()) : nullptr;
        Py_XDECREF(noted);
        PyErr_Clear();
        PyErr_Restore(type, value, trace);
        return;
    }
    Diagnostics diagnostics;
    diagnostics.error(*fault.code, surface.place(argument), what + " " + fault.message).help =
        fault.help;
    set_python_error(diagnostics, surface.module->sources);
}

namespace {

bool back_end_exists(const Surface& surface, const Options& options,
                     Specializations::Failure& failure) {
    // Kernels written by hand are checked on every back end.
    if (options.check != Check::kNothing && options.backend == Backend::kCuda && !surface.general) {
        failure.diagnostics
            .error(Code::kP562, {}, "the back end 'Cuda' cannot check a program while it runs")
            .help =
            "add backend=parpy.CompileBackend.Cpu, or .Sim, to the options that have 'check'";
        return false;
    }
    if (options.backend != Backend::kMetal) return true;
    failure.diagnostics
        .error(Code::kP560, {},
               "programs of the back end 'Metal' can be generated, but not run by this version of "
               "ParPy")
        .help =
        "print the program with parpy.print_compiled; run it on CompileBackend.Cpu, Cuda or Sim";
    return false;
}

// Text may be printed for any GPU; programs that run are compiled for the present one.
Options runnable(Options options) {
    if (options.backend == Backend::kCuda && !cuda::has_clusters(options.cuda_arch))
        options.use_cuda_thread_block_clusters = false;
    return options;
}

// Compiles and loads. Runs without the GIL; touches no Python object.
std::shared_ptr<Executable> build(const Surface& surface, const Options& options,
                                  const Signature& signature, Specializations::Failure& failure) {
    if (!back_end_exists(surface, options, failure)) return nullptr;
    const Program program = surface.compiled(signature, runnable(options), failure.diagnostics);
    if (failure.diagnostics.has_errors()) return nullptr;
    std::shared_ptr<Executable> executable;
    where_it_fits(surface.deep, [&] { executable = load(program, options, failure.error); });
    if (executable == nullptr) failure.source = program.text;
    return executable;
}

// CPU code, the simulator's included, cannot reach arrays on a device.
bool check_devices(const Surface& surface, const Options& options, Arguments arguments) {
    if (options.backend == Backend::kCuda) return true;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].is_array() || !arguments[i].on_device()) continue;
        raise_fault(
            surface, i,
            {Code::kP559, "lies on a CUDA device, but the function is compiled for the CPU",
             "use CompileBackend.Cuda (or Auto, where a device is present), or copy the array to "
             "the host"});
        return false;
    }
    return true;
}

// Writes the text to a new temporary file; returns its path, or the reason for a failure.
std::string written_to_file(const std::string& text) {
    try {
        const nb::object made =
            nb::module_::import_("tempfile")
                .attr("mkstemp")(nb::arg("suffix") = ".cpp", nb::arg("prefix") = "parpy-");
        const nb::object file = nb::module_::import_("os").attr("fdopen")(made[0], "w");
        file.attr("write")(text);
        file.attr("close")();
        return nb::cast<std::string>(made[1]);
    } catch (nb::python_error& error) {
        return std::string("no file: ") + error.what();
    }
}

class GilReleased {
public:
    GilReleased() : thread_(PyEval_SaveThread()) {}
    ~GilReleased() { PyEval_RestoreThread(thread_); }
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;

private:
    PyThreadState* thread_;
};

}  // namespace

bool check_copies(const Surface& surface, const Intake& intake, Arguments arguments) {
    const auto torn = intake.torn_apart(arguments, surface.written);
    if (!torn) return true;
    const auto [first, second] = *torn;
    const std::string what = first == second ? "elements that overlap"
                                             : "memory in common with " + surface.describe(second);
    raise_fault(surface, first,
                {Code::kP556, "is not aligned and has " + what,
                 "pass aligned arrays: np.require(x, requirements='A') makes an aligned copy"});
    return false;
}

const Specialization* specialize(const Surface& surface, Specializations& specializations,
                                 Arguments arguments, bool write_output) {
    if (!check_devices(surface, specializations.options, arguments)) return nullptr;
    if (specializations.options.backend == Backend::kCuda) pass_search_paths_to_nvrtc();
    Specializations::Failure failure;
    std::vector<Diagnostic> warnings;  // of the program, if it is new
    const Specialization* made = nullptr;
    std::optional<double> seconds;  // of the compilation, if there was one
    {
        const GilReleased released;
        made = specializations.find_or_build(
            arguments,
            [&](const Signature& signature, const Options& options, Specializations::Failure& f) {
                const auto begin = std::chrono::steady_clock::now();
                auto executable = build(surface, options, signature, f);
                const std::chrono::duration<double> spent =
                    std::chrono::steady_clock::now() - begin;
                seconds = seconds.value_or(0.0) + spent.count();
                warnings.clear();
                std::ranges::copy_if(
                    f.diagnostics.all(), std::back_inserter(warnings), [](const Diagnostic& note) {
                        return note.code == Code::kP403 || note.code == Code::kP316 ||
                               note.severity == Severity::kWarning;
                    });
                return executable;
            },
            [&](const Signature& signature, Specializations::Failure& f) {
                (void)surface.compiled(signature, specializations.options, f.diagnostics);
                return !f.diagnostics.has_errors();
            },
            failure);
    }
    if (seconds && !note_compilation(surface.module->entry_function()->name,
                                     shown(specializations.options.backend).data(), *seconds,
                                     surface.module->sources)) {
        return nullptr;
    }
    if (made != nullptr) {
        if (PyErr_CheckSignals() != 0 || !warn_of_cache())
            return nullptr;  // a signal's exception, or a warning's
        const bool told = std::ranges::all_of(warnings, [&](const Diagnostic& note) {
            return warn_of(note, surface.module->sources);
        });
        return told ? made : nullptr;
    }
    if (failure.diagnostics.has_errors()) {
        set_python_error(failure.diagnostics, surface.module->sources);
    } else {
        std::optional<Diagnostic> located = located_at_call(failure.error, *surface.module);
        std::string& help = located ? located->help : failure.error.help;
        if (write_output && !failure.source.empty()) {
            help += help.empty() ? "" : "; ";
            help += "the generated code is in " + written_to_file(failure.source);
        }
        if (located) failure.diagnostics.report(*located);
        located ? set_python_error(failure.diagnostics, surface.module->sources)
                : set_python_error(failure.error);
    }
    return nullptr;
}

bool print_stages(const Surface& surface, const Options& options, Arguments arguments) {
    std::string text;
    {
        const GilReleased released;
        const BehindForkGate gate;
        Options traced = options;
        traced.debug_print = true;
        Diagnostics diagnostics;
        const Trace trace = [&](std::string_view pass, double seconds, const std::string& ir) {
            char time[32];
            std::snprintf(time, sizeof time, "%.3f ms", 1e3 * seconds);
            text += "// ---- " + std::string(pass) + " (" + time + ") ----\n" + ir;
            if (!ir.ends_with('\n')) text += '\n';
        };
        // Errors are reported by the compilation that follows, or were reported by the previous
        // one.
        (void)surface.compiled(surface.signature(arguments), traced, diagnostics, trace);
    }
    try {
        nb::module_::import_("builtins")
            .attr("print")(text, nb::arg("end") = "", nb::arg("flush") = true);
        return true;
    } catch (...) {
        set_python_error();
        return false;
    }
}

}  // namespace parpy
