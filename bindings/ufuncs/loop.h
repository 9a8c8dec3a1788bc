// The compiled inner loop of a ufunc for one combination of types, as NumPy calls it: pointers to
// the first elements, the number of elements, and the bytes between them.
#pragma once

#include <memory>
#include <vector>

#include "arrays/array_intake.h"
#include "calls/jit_function.h"

namespace parpy {

// The parts that python/parpy/ufuncs/loops.py makes a loop of.
struct LoopParts {
    std::vector<ir::Scalar> types;  // of the inputs, then of the outputs
    std::size_t inputs = 0;
    std::vector<int> core_ranks;  // core dimensions of each operand; empty: elementwise
    bool parallel = false;        // worker threads may share a loop
    Options mapped;               // its iterations touch different elements
    Options sequential;           // they may depend on each other
    Options reduced;              // they are a reduction, or the compiler refuses them
};

// A function of the operands, and the values that it captures.
struct LoopBody {
    // `parsed`: the frontend's Surface. Throws nb::python_error.
    LoopBody(PyObject* parsed, PyObject* parameters);
    LoopBody(const LoopBody&) = delete;
    LoopBody& operator=(const LoopBody&) = delete;

    Surface surface;
    std::vector<ArgumentView> captured;
    Intake intake;  // holds the memory of `captured`
};

class Loop {
public:
    // The parameters are those of LoopBody.
    Loop(PyObject* parsed, PyObject* parameters, LoopParts parts);
    virtual ~Loop() = default;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // False with a Python exception set. With or without the GIL, from any thread.
    virtual bool run(char* const* data, const std::int64_t* dimensions,
                     const std::int64_t* steps) = 0;
    // Compiles the variants that nearly every call needs; result and threads as for run.
    virtual bool prepare() = 0;
    // Updates the elements of the first operand at indices (NumPy's indexed loops): the operands
    // are that array, the indices and the other numbers; the last step is the size of the array.
    [[nodiscard]] virtual bool has_indexed() const { return false; }
    virtual bool run_indexed(char* const* /*data*/, std::int64_t /*count*/,
                             const std::int64_t* /*steps*/) {
        return false;
    }

    // Whether a call of few elements may wait for other threads, which may need the interpreter.
    [[nodiscard]] virtual bool uses_workers() const { return false; }

    [[nodiscard]] const std::vector<ir::Scalar>& types() const { return parts_.types; }
    virtual int traverse(visitproc visit, void* arg) const {  // for the garbage collector
        return body_.surface.traverse(visit, arg);
    }

protected:
    [[nodiscard]] std::size_t operand_count() const { return parts_.types.size(); }
    // Sets the exception of a failed run and returns false.
    bool fail(const RuntimeError& error) const;

    const LoopParts parts_;
    LoopBody body_;
};

// A loop over numbers, one for each of the operands.
class ElementLoop final : public Loop {
public:
    // `reducing`: a function of an accumulator and an operand, or None. `indexed`: a function of an
    // array, numbers, indices and a size, or None.
    ElementLoop(PyObject* parsed, PyObject* parameters, PyObject* reducing, PyObject* indexed,
                LoopParts parts);
    ~ElementLoop() override;
    int traverse(visitproc visit, void* arg) const override;
    bool run(char* const* data, const std::int64_t* dimensions, const std::int64_t* steps) override;
    bool prepare() override;
    [[nodiscard]] bool has_indexed() const override { return indexed_ != nullptr; }
    bool run_indexed(char* const* data, std::int64_t count, const std::int64_t* steps) override;

private:
    struct Variant;
    struct Layout;
    struct Range;

    [[nodiscard]] Layout layout(char* const* data, std::int64_t count,
                                const std::int64_t* steps) const;
    // Null with a Python exception set.
    const Variant* variant(const Layout& layout);
    std::unique_ptr<Variant> compiled(const Layout& layout) const;
    std::unique_ptr<Variant> compiled_reduction(const Layout& layout) const;
    std::unique_ptr<Variant> compiled(const LoopBody& body, const Layout& layout,
                                      Signature signature,
                                      std::span<const std::size_t> operands) const;
    // `flags`: all flags that were raised.
    [[nodiscard]] RuntimeError run_program(const Range& range, std::int64_t begin,
                                           std::int64_t count, int& flags) const;
    // `flags`: those that the results confirm.
    [[nodiscard]] RuntimeError run_range(const Range& range, std::int64_t begin, std::int64_t end,
                                         int& flags) const;
    bool run_parallel(const Range& range, std::int64_t count);
    bool run_copied(char* const* data, std::int64_t count, const std::int64_t* steps);

    std::atomic<const Variant*> variants_{nullptr};  // the last one used comes first
    std::atomic<double> cost_{0};                    // of an element, in nanoseconds; 0: unknown
    std::unique_ptr<LoopBody> reducing_;
    std::unique_ptr<ElementLoop> indexed_;
    std::vector<std::int64_t> sizes_;  // bytes of an element of each operand
};

// A loop over arrays of fixed ranks, one for each of the operands: one call of the program for the
// loop dimension and the core dimensions.
class CoreLoop final : public Loop {
public:
    CoreLoop(PyObject* parsed, PyObject* parameters, LoopParts parts);
    bool run(char* const* data, const std::int64_t* dimensions, const std::int64_t* steps) override;
    bool prepare() override { return true; }
    [[nodiscard]] bool uses_workers() const override { return parts_.parallel; }
    // Sets NumPy's numbers of the core dimensions of each operand, one operand after the other.
    void set_core_dimensions(std::vector<int> numbers) { numbers_ = std::move(numbers); }

private:
    std::vector<int> numbers_;
    Specializations specializations_;
};

// Holds the interpreter lock, whether or not the thread had it.
class WithGil {
public:
    WithGil() : state_(PyGILState_Ensure()) {}
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace parpy
