// The path of a warm call: bind; then either compare with a pattern of earlier calls, or read the
// arguments and find the specialisation; fill its slots, run. Nothing here allocates when every
// argument is a NumPy array or a Python number.
#include "calls/jit_function.h"

#include <algorithm>

#include "arrays/buffer.h"
#include "calls/call_cuda.h"
#include "calls/run.h"
#include "module/bind_jit.h"
#include "owned.h"
#include "raise.h"

namespace parpy {
namespace {

struct Names {
    PyObject* opts = PyUnicode_InternFromString("opts");
    PyObject* seq = PyUnicode_InternFromString("seq");
    PyObject* debug = PyUnicode_InternFromString("debug");
};
const Names& names() {
    static const Names all;
    return all;
}

constexpr std::size_t kInlineArguments = 24;
constexpr std::size_t kInlineSlots = 64;

// The values of ParPy's own keywords.
struct CallOptions {
    PyObject* options = nullptr;  // borrowed; null: none
    bool sequential = false;
    bool debug = false;
};

// While a call with seq=True runs on this thread, Python runs the jit functions that it calls, too.
class RunByPython {
public:
    RunByPython() {
        ++depth_;
        ++anywhere_;
    }
    ~RunByPython() {
        --depth_;
        --anywhere_;
    }
    RunByPython(const RunByPython&) = delete;
    RunByPython& operator=(const RunByPython&) = delete;
    [[nodiscard]] static bool here() {
        return anywhere_.load(std::memory_order_relaxed) != 0 && depth_ != 0;
    }

private:
    static thread_local int depth_;
    static std::atomic<int> anywhere_;  // nonzero: look at thread-local depth_
};
thread_local int RunByPython::depth_ = 0;
std::atomic<int> RunByPython::anywhere_{0};

bool is_true(PyObject* value, bool& result) {
    if (value == Py_True || value == Py_False) {
        result = value == Py_True;
        return true;
    }
    const int truth = PyObject_IsTrue(value);
    result = truth > 0;
    return truth >= 0;
}

// Reads `value` if `keyword` is one of ParPy's own. 1: read, 0: not one, -1: exception.
int take_keyword(PyObject* keyword, PyObject* value, CallOptions& call) {
    const auto is = [&](PyObject* name) {
        return keyword == name || PyUnicode_Compare(keyword, name) == 0;
    };
    if (is(names().opts)) {
        if (value != Py_None && !is_options(value)) {
            PyErr_Format(PyExc_TypeError, "opts must be a parpy.CompileOptions, not %.100s%s",
                         Py_TYPE(value)->tp_name,
                         PyDict_Check(value) ? "; write opts=parpy.par({...})" : "");
            return -1;
        }
        call.options = value == Py_None ? nullptr : value;
        return 1;
    }
    if (is(names().seq)) return is_true(value, call.sequential) ? 1 : -1;
    if (is(names().debug)) return is_true(value, call.debug) ? 1 : -1;
    return 0;
}

// Binds the arguments of all but plain positional calls by a Python function of the same signature,
// with Python's own errors. A new reference to the tuple of values, or null with an exception.
PyObject* bind_arguments(JitFunction* self, PyObject* const* args, Py_ssize_t count,
                         PyObject* keywords, CallOptions& call) {
    PyObject* rest = PyDict_New();
    if (rest == nullptr) return nullptr;
    PyObject* bound = nullptr;
    PyObject* positional = nullptr;
    const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    for (Py_ssize_t i = 0; i < keyword_count; ++i) {
        PyObject* keyword = PyTuple_GET_ITEM(keywords, i);
        PyObject* value = args[count + i];
        const int declared = PySequence_Contains(self->parameters, keyword);
        const int taken = declared == 0  ? take_keyword(keyword, value, call)
                          : declared < 0 ? -1
                                         : 0;
        if (taken < 0 || (taken == 0 && PyDict_SetItem(rest, keyword, value) != 0)) goto done;
    }
    positional = PyTuple_New(count);
    if (positional == nullptr) goto done;
    for (Py_ssize_t i = 0; i < count; ++i)
        PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    if (call.sequential) {
        const RunByPython by_python;
        bound = PyObject_Call(self->function, positional, rest);
    } else {
        bound = PyObject_Call(self->bind, positional, rest);
    }
done:
    Py_XDECREF(positional);
    Py_DECREF(rest);
    return bound;
}

// Reads one argument that take_fast() refused.
[[gnu::noinline]] bool read_slowly(const Surface& surface, std::size_t index, PyObject* object,
                                   ArgumentView& view, Intake& intake) {
    IntakeFault fault;
    if (intake.take(object, view, fault)) return true;
    if (index < surface.leaves.size() && surface.leaves[index].unused)
        return PyErr_Occurred() == nullptr && take_fast(Py_False, view);
    raise_fault(surface, index, fault);
    return false;
}

// Takes the key that a generator of random numbers gives to one call.
bool take_generator(const Surface& surface, std::size_t index, PyObject* object, ArgumentView& view,
                    Intake& intake) {
    const Owned module(PyImport_ImportModule("parpy.calls.generators"));
    if (!module) return false;
    const Owned key(PyObject_CallMethod(module.get(), "key_of", "O", object));
    if (!key) return false;
    if (key.get() != Py_None) return read_slowly(surface, index, key.get(), view, intake);
    raise_fault(surface, index,
                {Code::kP550,
                 "is of type '" + std::string(Py_TYPE(object)->tp_name) +
                     "', where a generator of random numbers is needed",
                 "pass np.random.default_rng(seed)"});
    return false;
}

bool read_arguments(const Surface& surface, PyObject* const* args, ArgumentView* views,
                    Intake& intake) {
    const std::size_t leaves = surface.leaves.size();
    for (std::size_t i = 0; i < leaves; ++i) {
        PyObject* object =
            surface.plain ? args[i] : leaf_value(surface, surface.leaves[i], args, intake);
        if (object == nullptr) return false;
        if (surface.leaves[i].generator) {
            if (!take_generator(surface, i, object, views[i], intake)) return false;
            continue;
        }
        if (!take_fast(object, views[i]) && !read_slowly(surface, i, object, views[i], intake)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < surface.captures.size(); ++i) {
        PyObject* object = surface.captures[i].read_new();
        if (object == nullptr) {
            if (PyErr_Occurred() == nullptr) {
                raise_fault(surface, leaves + i,
                            {Code::kP101, "is not defined", "define it before the call"});
            }
            return false;
        }
        intake.hold(object);
        Py_DECREF(object);
        ArgumentView& view = views[leaves + i];
        if (surface.captured_generators[i]) {
            if (!take_generator(surface, leaves + i, object, view, intake)) return false;
            continue;
        }
        if (!take_fast(object, view) && !read_slowly(surface, leaves + i, object, view, intake)) {
            return false;
        }
    }
    return true;
}

bool any_on_device(Arguments arguments) {
    for (const ArgumentView& view : arguments) {
        if (view.is_array() && view.on_device()) return true;
    }
    return false;
}

// The arguments of all parameters as a tuple; a new reference.
PyObject* values_of(JitFunction* self, PyObject* const* args) {
    const Py_ssize_t count = PyTuple_GET_SIZE(self->parameters);
    PyObject* values = PyTuple_New(count);
    for (Py_ssize_t i = 0; values != nullptr && i < count; ++i)
        PyTuple_SET_ITEM(values, i, Py_NewRef(args[i]));
    return values;
}

// Runs a function of which Python runs a part.
PyObject* run_driver(const Surface& surface, JitFunction* self, PyObject* const* args,
                     const CallOptions& call) {
    const Owned driver(Py_NewRef(surface.driver)), values(values_of(self, args));
    if (!values) return nullptr;
    return PyObject_CallFunction(driver.get(), "OOO", values.get(),
                                 call.options != nullptr ? call.options : Py_None,
                                 call.debug ? Py_True : Py_False);
}

// False with the exception of the error, if there is one.
bool succeeded(const Surface& surface, const RuntimeError& error) {
    if (PyErr_Occurred() != nullptr) return false;  // a handler of SIGINT raised it meanwhile
    if (!error.failed()) return true;
    if (PyErr_CheckSignals() != 0) return false;  // Ctrl-C, which may have made it fail
    set_python_error(error, surface.module->sources);
    return false;
}

// Issues the note of a finished run as a warning. False: the warning became an exception.
bool passed_on(const Surface& surface, const Executable& executable) {
    const std::optional<std::size_t> site = executable.take_note();
    if (!site) return true;
    constexpr std::int64_t kFrom = Executable::kManyLaunches;
    Diagnostic note = ir::describe(executable.program.sites, *site, {&kFrom, 1});
    note.severity = Severity::kPerformance;
    return warn_of(note, surface.module->sources);
}

// Calls the attribute on_compiled, if there is one, after a program was compiled for these
// arguments.
bool told(JitFunction* self, PyObject* const* args) {
    PyObject* hook =
        self->dict != nullptr ? PyDict_GetItemString(self->dict, "on_compiled") : nullptr;
    if (hook == nullptr) return true;
    const Owned kept(Py_NewRef(hook)), values(values_of(self, args));
    return values && Owned(PyObject_CallOneArg(hook, values.get()));
}

// Calls the attribute on_misfit, if there is one, for a function that cannot be parsed or compiled
// without more knowledge of its arguments, or arguments that it cannot take. If the attribute
// returns NotImplemented, the exception stays.
PyObject* without_fit(JitFunction* self, PyObject* const* args, const CallOptions& call) {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject* hook =
        self->dict != nullptr ? PyDict_GetItemString(self->dict, "on_misfit") : nullptr;
    PyObject* result = nullptr;
    if (hook != nullptr && PyErr_GivenExceptionMatches(type, PyExc_Exception) != 0) {
        const Owned kept(Py_NewRef(hook)), values(values_of(self, args));
        if (values) {
            result = PyObject_CallFunctionObjArgs(hook, error, values.get(),
                                                  call.options != nullptr ? call.options : Py_None,
                                                  nullptr);
        }
    } else {
        result = Py_NewRef(Py_NotImplemented);
    }
    if (result != Py_NotImplemented) {  // a result, or an exception of its own
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return result;
    }
    Py_DECREF(result);
    PyErr_Restore(type, error, trace);
    return nullptr;
}

// The options of a call, and the programs compiled under them. Null: an exception is set.
struct Compiled {
    const ConvertedOptions* options = nullptr;
    PerThreads* per = nullptr;
    [[nodiscard]] explicit operator bool() const { return per != nullptr; }
};
Compiled compiled_under(const JitFunction* self, Surface& surface, const CallOptions& call,
                        bool on_device) {
    Compiled result;
    result.options = call.options != nullptr ? converted_options(call.options)
                                             : default_options(on_device, self->defaults);
    if (result.options == nullptr) return {};
    const OptionsRecord* record =
        call.debug ? with_assertions(result.options->record) : result.options->record;
    result.per = &surface.under(record, result.options->threads);
    return result;
}

// The argument object itself, a new reference.
PyObject* argument_object(const Surface& surface, std::size_t argument, PyObject* const* args,
                          Intake& intake) {
    const std::size_t leaves = surface.leaves.size();
    if (argument >= leaves) return surface.captures[argument - leaves].read_new();
    return Py_XNewRef(surface.plain ? args[argument]
                                    : leaf_value(surface, surface.leaves[argument], args, intake));
}

// Runs a call that no pattern matches.
PyObject* run_any(JitFunction* self, Surface& surface, PyObject* const* args,
                  const CallOptions& call) {
    if (surface.driver != nullptr) return run_driver(surface, self, args, call);

    const std::size_t count = surface.argument_count();
    Buffer<ArgumentView, kInlineArguments> views(count);
    Intake intake;
    if (!read_arguments(surface, args, views.data(), intake)) return without_fit(self, args, call);
    const Arguments arguments(views.data(), count);

    if (intake.has_copies() && !check_copies(surface, intake, arguments)) return nullptr;

    // Read after the arguments, since reading them may run Python code that assigns to the options.
    const Compiled under = compiled_under(self, surface, call, any_on_device(arguments));
    if (!under) return nullptr;
    Specializations& specializations = under.per->specializations;
    const Options& options = specializations.options;
    if ((call.debug || under.options->debug) && !print_stages(surface, options, arguments)) {
        return nullptr;
    }
    const Specialization* found = specializations.find(arguments);
    if (found == nullptr) {
        found = specialize(surface, specializations, arguments, under.options->write_output);
        if (found == nullptr) return without_fit(self, args, call);
        if (!told(self, args)) return nullptr;
    }

    const Program& program = found->executable().program;
    const std::size_t results = result_count(program);
    Buffer<ArgumentView, kInlineArguments> with_results(results == 0 ? 0 : count + results);
    if (results != 0) {
        std::copy_n(views.data(), count, with_results.data());
        intake.make_results(results, with_results.data() + count);
    }
    const Arguments all =
        results == 0 ? arguments : Arguments(with_results.data(), count + results);
    Buffer<std::uint64_t, kInlineSlots> slots(found->slot_count());
    ReturnedArrays returned;
    ReturnedArrays* const arrays = program.results.empty() ? nullptr : &returned;
    if (options.backend == Backend::kCuda) {
        if (!succeeded(surface, run_on_cuda(*found, all, intake, under.options->stream,
                                            slots.data(), arrays))) {
            return nullptr;
        }
    } else {
        if (surface.takes_parameters() && program.result_form.empty())
            under.per->patterns.add(args, arguments, *found);
        found->fill(all, slots.data());
        if (!succeeded(surface, run_program(*found, slots.data(), nullptr, arrays))) return nullptr;
    }
    if (intake.has_copies() && !intake.copy_back([&](const ArgumentView* view) {
            return found->writes(static_cast<std::size_t>(view - views.data()));
        })) {
        return nullptr;
    }
    if (!passed_on(surface, found->executable())) return nullptr;
    if (program.result_form.empty()) Py_RETURN_NONE;
    return results_of(program, count, intake, returned, surface.classes,
                      [&](std::size_t i) { return argument_object(surface, i, args, intake); });
}

// Runs a call whose iterations several devices or ranks share.
PyObject* run_on_devices(JitFunction* self, PyObject* const* args, const CallOptions& call) {
    const Owned module(PyImport_ImportModule("parpy.scale.engines"));
    if (!module) return nullptr;
    const Owned values(values_of(self, args));
    if (!values) return nullptr;
    return PyObject_CallMethod(module.get(), "call", "OOO", reinterpret_cast<PyObject*>(self),
                               values.get(), call.options);
}

PyObject* run_compiled(JitFunction* self, PyObject* const* args, const CallOptions& call) {
    if (call.options != nullptr) {
        const ConvertedOptions* options = converted_options(call.options);
        if (options == nullptr) return nullptr;
        if (options->devices) return run_on_devices(self, args, call);
    }
    const Active active(self);
    Surface* surface = current_surface(self);
    if (surface == nullptr) return without_fit(self, args, call);
    if (surface->takes_parameters() && !call.debug) {
        const Compiled under = compiled_under(self, *surface, call, false);
        if (!under) return nullptr;
        Buffer<std::uint64_t, kInlineSlots> slots(surface->leaves.size() + 1);
        const Specialization* found =
            under.options->debug ? nullptr : under.per->patterns.match(args, slots.data());
        if (found != nullptr) {
            if (!succeeded(*surface, run_program(*found, slots.data(), nullptr, nullptr)) ||
                !passed_on(*surface, found->executable())) {
                return nullptr;
            }
            Py_RETURN_NONE;
        }
    }
    return run_any(self, *surface, args, call);
}

// The index of a parameter, or -1. Keywords in source code are interned, so identity suffices for
// nearly all of them, ParPy's own included.
Py_ssize_t parameter_index(JitFunction* self, PyObject* keyword) {
    const Py_ssize_t count = PyTuple_GET_SIZE(self->parameters);
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (PyTuple_GET_ITEM(self->parameters, i) == keyword) return i;
    }
    if (PyUnicode_CHECK_INTERNED(keyword) != 0) return -1;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(self->parameters, i), keyword) == 0) return i;
    }
    return -1;
}

// Puts arguments given by position, by keyword and by default in the order of the parameters.
// False, perhaps with an exception: the call needs bind_arguments, whose errors are Python's own.
bool bind_simply(JitFunction* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                 PyObject** values, CallOptions& call) {
    const Py_ssize_t size = self->positional;
    if (count > size) return false;
    std::copy_n(args, count, values);
    std::fill(values + count, values + size, nullptr);
    const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    for (Py_ssize_t i = 0; i < keyword_count; ++i) {
        PyObject* keyword = PyTuple_GET_ITEM(keywords, i);
        PyObject* value = args[count + i];
        const Py_ssize_t index = parameter_index(self, keyword);
        if (index < 0) {
            if (take_keyword(keyword, value, call) <= 0) return false;
        } else {
            if (values[index] != nullptr) return false;
            values[index] = value;
        }
    }
    PyObject* defaults = PyFunction_GET_DEFAULTS(self->function);
    const Py_ssize_t default_count = defaults != nullptr ? PyTuple_GET_SIZE(defaults) : 0;
    for (Py_ssize_t i = count; i < size; ++i) {
        if (values[i] != nullptr) continue;
        const Py_ssize_t index = i - (size - default_count);
        if (index < 0) return false;
        values[i] = PyTuple_GET_ITEM(defaults, index);
    }
    return true;
}

PyObject* run_guarded(JitFunction* self, PyObject* const* args, const CallOptions& call) {
    try {
        return run_compiled(self, args, call);
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

}  // namespace

namespace {

inline PyObject* call_unguarded(PyObject* object, PyObject* const* args, std::size_t flagged_count,
                                PyObject* keywords) {
    auto* self = reinterpret_cast<JitFunction*>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
    CallOptions call;
    if (count == self->positional && keywords == nullptr && !RunByPython::here()) {
        return run_guarded(self, args, call);
    }
    if (self->positional >= 0 && !RunByPython::here()) {
        Buffer<PyObject*, kInlineArguments> values(static_cast<std::size_t>(self->positional));
        if (bind_simply(self, args, count, keywords, values.data(), call)) {
            if (!call.sequential) return run_guarded(self, values.data(), call);
        } else if (PyErr_Occurred() != nullptr) {
            return nullptr;
        }
    }
    call = {};
    call.sequential = RunByPython::here();
    const Owned bound(bind_arguments(self, args, count, keywords, call));
    if (!bound) return nullptr;
    if (call.sequential) return Py_NewRef(bound.get());
    return run_guarded(self, reinterpret_cast<PyTupleObject*>(bound.get())->ob_item, call);
}

}  // namespace

PyObject* call_function(PyObject* object, PyObject* const* args, std::size_t flagged_count,
                        PyObject* keywords) {
    PyObject* const result = call_unguarded(object, args, flagged_count, keywords);
    if (result == nullptr) [[unlikely]]
        hide_own_frames();
    return result;
}

bool read_call(JitFunction* self, PyObject* positional, Call& call) {
    CallOptions unused;
    PyObject* const* given = reinterpret_cast<PyTupleObject*>(positional)->ob_item;
    call.bound =
        nanobind::steal(bind_arguments(self, given, PyTuple_GET_SIZE(positional), nullptr, unused));
    if (!call.bound.is_valid()) return false;
    call.surface = current_surface(self);
    if (call.surface == nullptr) return false;
    if (call.surface->driver != nullptr) {
        PyErr_SetString(PyExc_TypeError,
                        "Python runs a part of this function, but this needs a function that is "
                        "compiled as a whole");
        return false;
    }
    call.views.resize(call.surface->argument_count());
    return read_arguments(*call.surface,
                          reinterpret_cast<PyTupleObject*>(call.bound.ptr())->ob_item,
                          call.views.data(), call.intake);
}

}  // namespace parpy
