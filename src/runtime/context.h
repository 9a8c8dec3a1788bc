// ParpyContext: one call of a compiled program in flight. Lives on the caller's stack, costs a few
// nanoseconds to make; generated host code passes it back to the parpy_* functions of abi.h. A
// device back end attaches its session; the CPU back end needs none.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "runtime/executable.h"
#include "runtime/failure.h"
#include "support/abi.h"

namespace parpy {

struct KernelLaunch {
    int index;  // of the kernel in the program
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void** arguments;
    bool overlapped;  // the kernel itself waits for the work before it
};

// "4 x 1 x 1", for messages.
[[nodiscard]] std::string shape_text(const unsigned size[3]);

// A device's parpy_launch, parpy_scratch, parpy_stream and parpy_fetch, during one call.
class DeviceSession {
public:
    virtual ~DeviceSession() = default;
    // Enqueues a kernel; 0, or nonzero with `error` set.
    virtual int launch(const KernelLaunch& launch, RuntimeError& error) = 0;
    // Zero-filled device memory that lives until the call's work has run; nullptr with `error` set.
    virtual void* scratch(std::int64_t bytes, RuntimeError& error) = 0;
    [[nodiscard]] virtual void* stream() const { return nullptr; }
    // Waits for the kernels enqueued so far and copies to the host; 0, or nonzero with `error` set,
    // maybe by a failed check of these kernels. `site`: the program's site that needs the value.
    virtual int fetch(std::int64_t site, void* to, const void* from, std::int64_t bytes,
                      RuntimeError& error) = 0;
};

}  // namespace parpy

namespace parpy {

// Counts the launches of each kernel that should run few times per call (Program::counted).
class LaunchCounts {
public:
    explicit LaunchCounts(const Executable& executable)
        : executable_(executable), counts_(executable.program.counted.size()) {}

    // Null if no launches are counted.
    [[nodiscard]] LaunchCounts* if_any() { return counts_.empty() ? nullptr : this; }
    void launched(int kernel) {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const auto& [counted, site] = executable_.program.counted[i];
            if (counted == kernel && ++counts_[i] > Executable::kManyLaunches)
                executable_.note(site);
        }
    }

private:
    const Executable& executable_;
    std::vector<std::int64_t> counts_;
};

}  // namespace parpy

struct ParpyContext {
    parpy::DeviceSession* session = nullptr;                      // not owned; null on the CPU
    std::unique_ptr<parpy::RuntimeError> error;                   // the first one; null: none
    std::vector<std::unique_ptr<void, void (*)(void*)>> scratch;  // of CPU programs
    parpy::ResultSink* results = nullptr;     // not owned; null if no array is returned
    parpy::Failure* failure = nullptr;        // not owned; null if no check can fail
    parpy::LaunchCounts* launches = nullptr;  // not owned; null if none are counted

    // Keeps the first error; returns the value that signals failure in generated code.
    int fail(parpy::RuntimeError e) {
        if (!error) error = std::make_unique<parpy::RuntimeError>(std::move(e));
        return 1;
    }
};
