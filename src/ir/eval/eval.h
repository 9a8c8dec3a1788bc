// The reference interpreter: runs a typed program on the caller's memory, one operation at a time,
// and is the oracle for every pass and back end. It has no undefined behaviour: subscripts out of
// range, reads of variables without a value, endless loops are reported with their place.
//
// Runs profiles kTyped … kMapped and CPU programs of kTarget; parallel loops and the chunks of a
// Launch run one after the other. It runs neither CUDA kernels nor programs at kKernels, whose
// reductions have no way to return results.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/ir.h"
#include "ir/verify.h"

namespace parpy::ir {

// An array in memory; strides count elements. `data` is the element with all subscripts zero.
struct ArrayView {
    void* data = nullptr;
    Scalar element = Scalar::kF64;
    std::vector<std::int64_t> extents, strides;
};

using EvalArgument = std::variant<Constant, ArrayView>;

struct EvalOptions {
    Profile profile = Profile::kTyped;     // before kLoops negative subscripts count from the end
    std::int64_t max_steps = 100'000'000;  // statements; after these it gives up
    std::int64_t chunks = 3;               // the number of chunks of a Launch
};

struct EvalResult {
    std::optional<Constant> value;      // the function's result
    std::string error;                  // empty: it ran to the end
    Span span;                          // of the error
    std::optional<Diagnostic> failure;  // set if a Fail statement ended the run
    [[nodiscard]] bool ok() const { return error.empty(); }
};

// Runs the entry function; `arguments` are its parameters' values, in order.
[[nodiscard]] EvalResult evaluate(const Module& module, std::span<const EvalArgument> arguments,
                                  const EvalOptions& options = {});

// Reads and writes one element in memory.
[[nodiscard]] Constant load_element(Scalar type, const void* from);
void store_element(Scalar type, void* to, const Constant& value);

}  // namespace parpy::ir
