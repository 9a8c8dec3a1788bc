// _native.JitFunction, the type of the functions that @parpy.jit makes: a heap type with a
// vectorcall slot. This header has its state; jit_type.cpp is the type, jit_function.cpp the path
// of a warm call, jit_specialize.cpp the work that is done once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrays/array_intake.h"
#include "arrays/returned_arrays.h"
#include "calls/annotations.h"
#include "calls/call_pattern.h"
#include "calls/guards.h"
#include "ir/ir.h"
#include "module/options_object.h"
#include "numpy_api.h"
#include "runtime/calls/dispatch.h"
#include "runtime/cpu/thread_counts.h"

namespace parpy {

// One parameter of the entry function: a Python parameter, an entry of a Python parameter that is a
// dict, or a capture.
struct Leaf {
    std::size_t parameter = 0;
    PyObject* key = nullptr;  // owned; null: the parameter itself
    bool unused = false;      // the function never reads it: any object will do
    bool generator = false;   // of random numbers: the program gets a key drawn from it
};

// Specialisations under options with these thread counts; a list that only grows at its head, like
// PerOptions.
struct PerThreads {
    PerThreads(const OptionsRecord& record, std::vector<std::int64_t> threads,
               std::uint64_t written, Generality generality, PerThreads* n)
        : counts(std::move(threads)),
          specializations(with_threads(record, counts), written, std::move(generality)),
          next(n) {}
    const std::vector<std::int64_t> counts;
    Specializations specializations;
    CallPatterns patterns;
    PerThreads* next;
};

// Specialisations under one set of options.
struct PerOptions {
    PerOptions(const OptionsRecord* r, PerOptions* n);
    ~PerOptions();
    PerOptions(const PerOptions&) = delete;
    PerOptions& operator=(const PerOptions&) = delete;
    [[nodiscard]] PerThreads* find(const std::vector<std::int64_t>& counts) const {
        PerThreads* each = per_threads.load(std::memory_order_acquire);
        while (each != nullptr && each->counts != counts)
            each = each->next;
        return each;
    }
    const OptionsRecord* record;
    std::atomic<PerThreads*> per_threads{nullptr};
    ThreadCounts settled;  // under the mutex of the Surface
    PerOptions* next;
};

// A parsed function, with the programs compiled from it. Valid while its guards hold.
class Surface {
public:
    // Made of the frontend's Surface object and the names of the Python parameters. Throws
    // nb::python_error.
    Surface(PyObject* parsed, PyObject* parameters);
    ~Surface();
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;

    int traverse(visitproc visit, void* arg) const;  // for the garbage collector
    [[nodiscard]] std::size_t argument_count() const { return leaves.size() + captures.size(); }
    // Whether the arguments are the parameters of the function, one by one.
    [[nodiscard]] bool takes_parameters() const {
        return plain && driver == nullptr && argument_count() == leaves.size();
    }
    [[nodiscard]] PerThreads& under(const OptionsRecord* record,
                                    const std::vector<std::int64_t>& threads);
    // The signature that a first call with these arguments is compiled for.
    [[nodiscard]] Signature signature(Arguments arguments) const;
    // "argument 'x'", "argument d['k']", "global 'x'" or "closure variable 'x'"; place() is its
    // declaration.
    [[nodiscard]] std::string describe(std::size_t argument) const;
    // The same in the spelling of the interface of generated text: x, d['k'] or global x.
    [[nodiscard]] std::string shown(std::size_t argument) const;
    [[nodiscard]] Span place(std::size_t argument) const;
    // Checks the arguments against the annotations and compiles, with tuned options if there are
    // any.
    [[nodiscard]] Program compiled(const Signature& signature, const Options& options,
                                   Diagnostics& diagnostics, const Trace& trace = {}) const;
    void check(const Signature& signature, Diagnostics& diagnostics) const;  // checks annotations
    // The key under which parpy.tune remembers such a call (`options` are automatic), and the
    // options that it remembers; nothing if it remembers none, or `options` leave no choice.
    [[nodiscard]] std::string tuning_key(const Signature& signature, const Options& options) const;
    [[nodiscard]] std::optional<Options> tuned(const Signature& signature,
                                               const Options& options) const;
    [[nodiscard]] std::int64_t first_line() const { return module->entry_function()->span.line; }

    const ir::Module* module = nullptr;
    std::vector<Leaf> leaves;
    Annotations annotations;
    bool plain = true;          // leaf i is parameter i
    bool deep = false;          // ir::nests_deeply()
    std::uint64_t written = 0;  // a bit per argument that the function may store to
    bool general = false;       // compiled for any values and sizes of its parameters
    std::vector<Place> captures;
    std::vector<bool> captured_generators;  // which captures are generators of random numbers
    PyObject* driver = nullptr;             // owned; runs calls of which Python runs a part
    PyObject* classes = nullptr;            // owned; of the named tuples that it returns, by number
    Guards guards;
    std::atomic<PerOptions*> per_options{nullptr};

private:
    [[nodiscard]] Generality generality() const;

    PyObject* parsed_ = nullptr;
    std::mutex mutex_;
    mutable std::once_flag printed_;
    mutable std::string text_;  // of the module, for keys
};

struct JitFunction {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* function;    // the Python function
    PyObject* parse;       // () -> Surface of the frontend
    PyObject* bind;        // same signature as the function; returns the tuple of its arguments
    PyObject* parameters;  // tuple of names
    PyObject* dict;
    PyObject* weak_references;
    // The number of parameters if all of them may be positional or keyword; -1: some are
    // positional-only or keyword-only, and `bind` binds every call.
    Py_ssize_t positional;
    CallDefaults defaults;

    struct State {
        std::atomic<Surface*> surface{nullptr};
        std::atomic<std::int64_t> active{0};  // calls in flight, whose surfaces are not freed
        std::atomic<std::uint64_t> generation{0};
        std::mutex mutex;
        std::vector<std::unique_ptr<Surface>> surfaces;  // the current one and those still in use
    };
    State* state;
};

// The results of a program, assembled by Program::result_form from its arguments from `first` on.
// Arrays are in `arrays`; numbers are in intake's memory with the types of the slots; `given` makes
// a new reference to an argument that is a result itself. `classes`: those of named tuples, by
// number; without them the tuples are plain. A new reference, or null with an exception set.
PyObject* results_of(const Program& program, std::size_t first, const Intake& intake,
                     ReturnedArrays& arrays, PyObject* classes,
                     const std::function<PyObject*(std::size_t)>& given);

// The vectorcall slot: binds the arguments, finds or compiles the specialisation, runs it.
PyObject* call_function(PyObject* object, PyObject* const* args, std::size_t flagged_count,
                        PyObject* keywords);

// Counts a call among those in flight: during its lifetime no surface of the function is freed.
class Active {
public:
    explicit Active(JitFunction* self) : state_(*self->state) { add(1); }
    ~Active() { add(-1); }
    Active(const Active&) = delete;
    Active& operator=(const Active&) = delete;

private:
    void add(std::int64_t change) {
#ifdef Py_GIL_DISABLED
        state_.active.fetch_add(change, std::memory_order_acq_rel);
#else
        state_.active.store(state_.active.load(std::memory_order_relaxed) + change,
                            std::memory_order_relaxed);
#endif
    }
    JitFunction::State& state_;
};

// The surface for this call: parsed at the first call, and again when a guard fails or after
// clear_cache(). nullptr with a Python exception set.
Surface* current_surface(JitFunction* self);
// Incremented by clear_cache(): functions drop earlier compilations at their next call.
extern std::atomic<std::uint64_t> cache_generation;

// Raises the exception for a refused argument, located at its declaration.
void raise_fault(const Surface& surface, std::size_t argument, const IntakeFault& fault);
// The object of one parameter of the compiled function, a borrowed reference; nullptr with an
// exception.
PyObject* leaf_value(const Surface& surface, const Leaf& leaf, PyObject* const* args,
                     Intake& intake);
// Refuses arguments whose memory overlaps although their aligned copies do not. False with an
// exception.
bool check_copies(const Surface& surface, const Intake& intake, Arguments arguments);
// Compiles for these arguments, or waits for the thread that does. nullptr with an exception set.
// write_output: generated text that does not compile is kept in a file, which the error names.
const Specialization* specialize(const Surface& surface, Specializations& specializations,
                                 Arguments arguments, bool write_output);
// Implements debug=True: compiles for these arguments and prints every stage that changed the
// program.
bool print_stages(const Surface& surface, const Options& options, Arguments arguments);

}  // namespace parpy
