// A program ready to run: host code linked into this process, kernels loaded on their device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parpy/compile.h"
#include "runtime/result_sink.h"
#include "support/abi.h"
#include "support/runtime_error.h"

namespace parpy {

class Executable {
public:
    virtual ~Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    // Runs the program on `slots` (Program::slots, in order; pointers are device pointers on CUDA).
    // `stream` is a CUstream or null. CUDA: returns when everything is enqueued.
    // The fast path: no allocation, no lock. `results`: null for programs without Program::results.
    [[nodiscard]] virtual RuntimeError run(const std::uint64_t* slots, void* stream,
                                           ResultSink* results) const = 0;

    // The most launches of one kernel in a call without a note.
    static constexpr std::int64_t kManyLaunches = 1000;
    // Notes a site of the program that its user should read, for the caller to report after the
    // run. Thread-safe; only the last note is kept.
    void note(std::size_t site) const {
        noted_.store(static_cast<std::int64_t>(site), std::memory_order_relaxed);
    }
    [[nodiscard]] std::optional<std::size_t> take_note() const {
        if (program.counted.empty() || noted_.load(std::memory_order_relaxed) < 0) return {};
        return static_cast<std::size_t>(noted_.exchange(-1, std::memory_order_relaxed));
    }

    const Program program;

protected:
    explicit Executable(Program p) : program(std::move(p)) {}

private:
    mutable std::atomic<std::int64_t> noted_{-1};
};

// Builds (or takes from the disk cache) the machine code of `program` for this process.
// nullptr and `error` set on failure. Thread-safe.
[[nodiscard]] std::shared_ptr<Executable> load(const Program& program, const Options& options,
                                               RuntimeError& error);

}  // namespace parpy
