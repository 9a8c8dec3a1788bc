// The state and the functions that the files of the fake driver share.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "fake_cuda.h"
#include "runtime/cuda/driver.h"

namespace fake {

using namespace parpy::cuda;

extern FakeCuda state;
extern const bool emulates;
extern const int devices;
extern std::mutex mutex;  // held by every function that uses the state below
extern thread_local Context current;
extern std::map<DevicePointer, std::pair<std::size_t, int>> memory;  // size, device

// The injected failure of this call of `function`, or else success.
Result enter(const char* function);
// Ends the process if the stream was destroyed.
void use(Stream stream);

// ---- work of streams (late_work.cpp). With FAKE_CUDA_LATE in the environment, that of streams
// which do not wait for the default stream runs as late as possible, or earlier, by chance. Results
// that nobody waits for are not there yet.

Stream make_stream(unsigned flags);
// The flags that made the stream; if it was made elsewhere, those of a non-blocking stream.
unsigned flags_of(Stream stream);
[[nodiscard]] bool is_late(Stream stream);
// Runs the work now or later.
void enqueue(Stream stream, std::function<void()> work);
// The number of pieces of work so far.
[[nodiscard]] std::size_t enqueued(Stream stream);
// With FAKE_CUDA_GRAPHS in the environment of an emulated GPU, work of a captured stream is
// recorded instead, and launches of the graph enqueue it.
[[nodiscard]] bool records_graphs();
void begin_recording(Stream stream);
[[nodiscard]] bool is_recording(Stream stream);
using Recorded = std::vector<std::function<void()>>;
[[nodiscard]] Recorded end_recording(Stream stream);
void run_until(Stream stream, std::size_t behind);
void run_all(Stream stream);
void run_all();

}  // namespace fake

#define FAKE(name, ...) extern "C" __attribute__((visibility("default"))) Result name(__VA_ARGS__)
#define ENTER(name)                           \
    const std::scoped_lock lock(fake::mutex); \
    if (const Result r = fake::enter(#name); r != kSuccess) return r;
