// Converts parpy.CompileOptions to parpy::Options. Fields were validated on assignment
// (python/parpy/calls/options.py); choices that depend on the machine are made here, at the first
// call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "module/options_object.h"
#include "passes/types/check_labels.h"
#include "raise.h"
#include "runtime/cpu/cpp_compiler.h"
#include "runtime/cuda/device.h"

namespace nb = nanobind;

namespace parpy {
namespace {

struct OptionsObject {
    PyObject_HEAD ConvertedOptions converted;
};

PyTypeObject* the_options_type = nullptr;

// Incremented when a setting changes that conversions depend on.
std::atomic<std::uint64_t> current_epoch{1};
std::atomic<int> chosen_default{-1};  // set_default: a Backend; -1: by the hardware

std::size_t hash_of(const Options& options) {
    std::size_t hash = static_cast<std::size_t>(options.backend);
    const auto mix = [&](std::size_t value) { hash = (hash + value) * 0x9E3779B97F4A7C15u; };
    for (const auto& [label, loop] : options.mapping) {
        mix(std::hash<std::string>{}(label));
        mix(loop.reduce ? 1 : 0);
        mix(static_cast<std::size_t>(loop.threads_per_block));
    }
    mix(static_cast<std::size_t>(options.fast_math) * 4 + options.automatic * 2u +
        options.restructure);
    mix(static_cast<std::size_t>(options.check) * 2 + options.assertions);
    return hash;
}

const OptionsRecord* intern(Options options, bool automatic) {
    static std::mutex mutex;
    static std::unordered_multimap<std::size_t, std::unique_ptr<const OptionsRecord>> records;
    const std::size_t hash = hash_of(options);
    const std::lock_guard lock(mutex);
    auto [begin, end] = records.equal_range(hash);
    for (; begin != end; ++begin) {
        const OptionsRecord& record = *begin->second;
        if (record.automatic == automatic && record.options == options) return &record;
    }
    auto made = std::make_unique<const OptionsRecord>(OptionsRecord{std::move(options), automatic});
    return records.emplace(hash, std::move(made))->second.get();
}

Backend automatic_backend() {
    if (const int chosen = chosen_default.load(); chosen >= 0) return static_cast<Backend>(chosen);
    return cuda::unavailable().failed() ? Backend::kCpu : Backend::kCuda;
}

// Implements verbose_backend_resolution.
void print_resolution() {
    const std::string& reason = cuda::unavailable().message;
    const std::string text = reason.empty() ? "the back end Cuda is enabled"
                                            : "the back end Cuda is disabled: " + reason;
    nb::module_::import_("builtins").attr("print")(text);
}

std::optional<ir::Scalar> elem_size(nb::handle value) {
    if (value.is_none()) return std::nullopt;
    return ir::scalar_from_name(nb::cast<std::string>(value.attr("value")));
}

// Accepts an int, or a stream object of PyTorch (cuda_stream), CuPy (ptr), Numba (handle) or
// __cuda_stream__.
std::optional<std::uint64_t> stream_of(nb::handle value) {
    if (value.is_none()) return std::nullopt;
    nb::object number = nb::borrow(value);
    if (nb::hasattr(value, "__cuda_stream__")) {
        number = nb::object(value.attr("__cuda_stream__")())[1];
    } else if (!PyLong_Check(value.ptr())) {
        for (const char* name : {"cuda_stream", "ptr", "handle"}) {
            if (nb::hasattr(value, name)) {
                number = value.attr(name);
                break;
            }
        }
    }
    const unsigned long long handle = PyLong_AsUnsignedLongLongMask(number.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return handle;
}

ConvertedOptions convert(nb::handle source, std::uint64_t epoch) {
    Options options;
    ConvertedOptions converted;
    const auto field = [&](const char* name) -> nb::object { return source.attr(name); };
    const auto backend = nb::cast<std::string>(field("backend").attr("value"));
    const bool automatic = backend == "auto";
    options.backend = automatic ? automatic_backend() : backend_named(backend).value();
    for (auto [label, loop] : nb::cast<nb::dict>(field("parallelize"))) {
        LoopPar& par = options.mapping[nb::cast<std::string>(label)];
        par.reduce = nb::cast<bool>(loop.attr("_reduce"));
        par.threads_per_block = nb::cast<std::int64_t>(loop.attr("_tpb"));
    }
    for (auto& [label, par] : options.mapping) {
        const nb::object loop = field("parallelize")[nb::str(label.c_str(), label.size())];
        converted.threads.push_back(nb::cast<std::int64_t>(loop.attr("_threads")));
    }
    options.automatic = nb::cast<bool>(field("automatic"));
    options.restructure = nb::cast<bool>(field("restructure"));
    const auto legality = nb::cast<std::string>(field("legality"));
    options.legality = legality == "strict"  ? Legality::kStrict
                       : legality == "trust" ? Legality::kTrust
                                             : Legality::kCheck;
    if (const nb::object check = field("check"); !check.is_none()) {
        const auto name = nb::cast<std::string>(check);
        options.check = name == "bounds"  ? Check::kBounds
                        : name == "races" ? Check::kRaces
                                          : Check::kAll;
    }
    options.assertions = nb::cast<bool>(field("debug_print"));
    options.fast_math = nb::cast<bool>(field("fast_math"));
    options.deterministic = nb::cast<bool>(field("deterministic"));
    options.use_cuda_graphs = nb::cast<bool>(field("use_cuda_graphs"));
    options.use_cuda_thread_block_clusters =
        nb::cast<bool>(field("use_cuda_thread_block_clusters"));
    options.max_thread_blocks_per_cluster =
        nb::cast<std::int64_t>(field("max_thread_blocks_per_cluster"));
    options.implicit_shape_labels = nb::cast<bool>(field("implicit_shape_labels"));
    options.max_unroll_count = nb::cast<std::int64_t>(field("max_unroll_count"));
    options.force_int_size = elem_size(field("force_int_size"));
    options.force_float_size = elem_size(field("force_float_size"));
    if (options.backend == Backend::kMetal) {  // the limits of its hardware
        options.force_int_size = options.force_int_size.value_or(ir::Scalar::kI32);
        options.force_float_size = options.force_float_size.value_or(ir::Scalar::kF32);
        options.use_cuda_thread_block_clusters = false;
    }
    options.includes = nb::cast<std::vector<std::string>>(field("includes"));
    options.libs = nb::cast<std::vector<std::string>>(field("libs"));
    options.extra_flags = nb::cast<std::vector<std::string>>(field("extra_flags"));
    if (options.backend == Backend::kCuda) options.cuda_arch = cuda::current_architecture();
    if (options.backend == Backend::kCpu) options.vectors = host_vectors();

    converted.devices = !field("devices").is_none() || !field("comm").is_none();
    converted.stream = stream_of(field("stream"));
    converted.debug = nb::cast<bool>(field("debug_print"));
    converted.write_output = nb::cast<bool>(field("write_output"));
    if (automatic && nb::cast<bool>(field("verbose_backend_resolution"))) print_resolution();
    converted.record = intern(std::move(options), automatic);
    converted.epoch = epoch;
    return converted;
}

PyObject* invalidate(PyObject* self, PyObject*) {
    reinterpret_cast<OptionsObject*>(self)->converted.record = nullptr;
    Py_RETURN_NONE;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"_invalidate", invalidate, METH_NOARGS, "A field was assigned."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_doc, const_cast<char*>("Holds the options as the compiler sees them.")},
    {0, nullptr},
};
PyType_Spec spec = {"parpy._native.OptionsBase", sizeof(OptionsObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

Options with_threads(const OptionsRecord& record, std::span<const std::int64_t> threads) {
    Options options = record.options;
    std::size_t i = 0;
    for (auto& [label, par] : options.mapping)
        par.threads = threads[i++];
    return options;
}

bool is_options(PyObject* object) {
    return PyObject_TypeCheck(object, the_options_type);
}

const ConvertedOptions* converted_options(PyObject* options) {
    ConvertedOptions& converted = reinterpret_cast<OptionsObject*>(options)->converted;
    const std::uint64_t epoch = current_epoch.load(std::memory_order_acquire);
    if (converted.record != nullptr && converted.epoch == epoch) return &converted;
    try {
        converted = convert(options, epoch);
        return &converted;
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

const OptionsRecord* with_assertions(const OptionsRecord* record) {
    if (record->options.checks_assertions()) return record;
    Options options = record->options;
    options.assertions = true;
    return intern(std::move(options), record->automatic);
}

const ConvertedOptions* default_options(bool on_device, CallDefaults defaults) {
    // The default depends on the epoch through set_default alone; all variants are kept.
    static std::mutex mutex;
    static ConvertedOptions kept[2][2][2];
    const std::uint64_t epoch = current_epoch.load(std::memory_order_acquire);
    ConvertedOptions& converted =
        kept[on_device ? 1 : 0][defaults.fast_math ? 1 : 0][defaults.check_bounds ? 1 : 0];
    if (converted.epoch == epoch) return &converted;
    try {
        Options options;
        const int chosen = chosen_default.load();
        options.backend = chosen >= 0 ? static_cast<Backend>(chosen)
                          : on_device ? Backend::kCuda
                                      : Backend::kCpu;
        options.automatic = true;
        options.fast_math = defaults.fast_math;
        if (defaults.check_bounds) options.check = Check::kBounds;
        if (options.backend == Backend::kCuda) options.cuda_arch = cuda::current_architecture();
        if (options.backend == Backend::kCpu) options.vectors = host_vectors();
        const OptionsRecord* record = intern(std::move(options), true);
        const std::lock_guard lock(mutex);
        converted.record = record;
        converted.epoch = epoch;
        return &converted;
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

void bind_options(nb::module_& m) {
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr) throw nb::python_error();
    the_options_type = reinterpret_cast<PyTypeObject*>(type);
    m.attr("OptionsBase") = nb::handle(type);

    m.def(
        "cuda_unavailable", [] { return cuda::unavailable().message; },
        "Why CUDA code cannot run on this machine; '' if it can.");
    m.def(
        "are_alike", [](const std::string& a, const std::string& b) { return are_alike(a, b); },
        nb::arg("a"), nb::arg("b"), "Whether one label is mistaken for the other.");
    m.def("set_default_backend", [](const std::string& name) {
        chosen_default = name == "auto" ? -1 : static_cast<int>(backend_named(name).value());
        ++current_epoch;
    });
}

}  // namespace parpy
