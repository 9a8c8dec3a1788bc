// Worker threads of CPU programs, on oneTBB. Generated code enters through parpy_chunks and
// parpy_parallel_for (abi.h); this header is for the runtime itself.
//
// Safe to use from any number of threads at once and from inside a running body. A process forked
// after the pool was used has lost its workers: there, the caller runs all chunks one after the
// other, with the same results. PARPY_NUM_THREADS bounds the number of threads (default: the
// processors that this process may run on). PARPY_CHUNKS splits every loop of several iterations
// into that many chunks, however little work it has: for tests.
#pragma once

#include <cstdint>
#include <string>

namespace parpy {

// The number of threads that a parallel loop may use, the caller included.
[[nodiscard]] std::int64_t worker_count();

// The version of oneTBB that is loaded, "2021.8".
[[nodiscard]] std::string threading_version();

// While one exists, parallel loops that its thread starts run on that thread alone.
class OneWorker {
public:
    OneWorker();
    ~OneWorker();
    OneWorker(const OneWorker&) = delete;
    OneWorker& operator=(const OneWorker&) = delete;

private:
    bool before_;
};

// Starts the workers without waiting, so that the first parallel loop need not wait (1-2 ms).
void warm_workers();

}  // namespace parpy
