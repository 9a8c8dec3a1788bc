// Worker threads of CPU programs, on oneTBB. Generated code enters through parpy_chunks and
// parpy_parallel_for (abi.h); here is what the runtime itself needs of them.
//
// Safe to use from any number of threads at once and from inside a running body. A process forked
// after the pool was used has lost its workers: there, chunks run one after the other on the
// caller, with the same results. PARPY_NUM_THREADS bounds the number of threads (default: the
// processors that this process may run on). PARPY_CHUNKS splits every loop of several iterations
// into that many chunks, however little work it has: for tests.
#pragma once

#include <cstdint>
#include <string>

namespace parpy {

// Threads that a parallel loop may use, the caller included.
[[nodiscard]] std::int64_t worker_count();

// The version of oneTBB that is loaded, "2021.8".
[[nodiscard]] std::string threading_version();

// While one lives, parallel loops that its thread begins run on that thread alone.
class OneWorker {
public:
    OneWorker();
    ~OneWorker();
    OneWorker(const OneWorker&) = delete;
    OneWorker& operator=(const OneWorker&) = delete;

private:
    bool before_;
};

// Starts the workers without waiting for them, so that the first parallel loop need not (1-2 ms).
void warm_workers();

}  // namespace parpy
