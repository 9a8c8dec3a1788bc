// Runs a specialisation with or without the GIL.
#pragma once

#include <chrono>

#include "numpy_api.h"
#include "runtime/calls/dispatch.h"
#include "runtime/parts/parts.h"
#include "runtime/profiler_range.h"

namespace parpy {

// Releases the GIL, unless runs of this specialisation are known to be brief: the time is measured
// again every kSampleEvery runs. Work that depends on run-time values, or on other parts of a call,
// is never known to be brief.
inline RuntimeError run_program(const Specialization& specialization, const std::uint64_t* slots,
                                void* stream, ResultSink* results) {
    constexpr std::chrono::microseconds kBrief{3};
    constexpr std::uint32_t kSampleEvery = 64;
    const Executable& executable = specialization.executable();
    const ProfilerRange range(executable.program.name.c_str());
    if (specialization.fixed() && running_part() == nullptr) {
        const std::uint32_t sample = specialization.sample.load(std::memory_order_relaxed);
        if (sample != 0 && specialization.brief.load(std::memory_order_relaxed)) {
            specialization.sample.store(sample - 1, std::memory_order_relaxed);
            return executable.run(slots, stream, results);
        }
    }
    PyThreadState* thread = PyEval_SaveThread();
    const auto begin = std::chrono::steady_clock::now();
    RuntimeError error = executable.run(slots, stream, results);
    const auto end = std::chrono::steady_clock::now();
    PyEval_RestoreThread(thread);
    specialization.brief.store(end - begin < kBrief, std::memory_order_relaxed);
    specialization.sample.store(kSampleEvery, std::memory_order_relaxed);
    return error;
}

}  // namespace parpy
