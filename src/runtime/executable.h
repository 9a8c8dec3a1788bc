// A program ready to run: host code linked into this process, kernels loaded on their device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "parpy/compile.h"
#include "runtime/abi.h"

namespace parpy {

// What the back ends report: says what is missing and how to get it. Empty message: success.
struct RuntimeError {
    Code code = Code::kP900;
    std::string message;
    std::string help;
    std::shared_ptr<const Diagnostic> located = nullptr;  // instead of these, if it has a place
    [[nodiscard]] bool failed() const { return !message.empty(); }
};

// One call in flight; lives on the caller's stack.
class Executable;

class Executable {
public:
    virtual ~Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    // Runs the program on `slots` (Program::slots, in order; pointers are device pointers on CUDA).
    // `stream` is a CUstream or null. CUDA: returns when everything is enqueued.
    // The fast path: no allocation, no lock.
    [[nodiscard]] virtual RuntimeError run(const std::uint64_t* slots, void* stream) const = 0;

    const Program program;

protected:
    explicit Executable(Program p) : program(std::move(p)) {}
};

// Builds (or takes from the disk cache) the machine code of `program` for this process.
// nullptr and `error` set on failure. Thread-safe.
[[nodiscard]] std::shared_ptr<Executable> load(const Program& program, const Options& options,
                                               RuntimeError& error);

}  // namespace parpy
