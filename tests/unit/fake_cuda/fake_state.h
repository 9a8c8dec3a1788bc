// What the files of the fake driver share.
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
extern std::mutex mutex;  // held by every function that looks at what stands here
extern thread_local Context current;
extern std::map<DevicePointer, std::pair<std::size_t, int>> memory;  // size, device

// The injected failure of this call of `function`, or success.
Result enter(const char* function);
// Ends the process where the stream is gone.
void use(Stream stream);

// ---- work of streams (late_work.cpp). With FAKE_CUDA_LATE in the environment, that of streams
// which do not wait for the default one runs as late as it may, or earlier, by chance: what nobody
// waits for is not there yet.

Stream make_stream(unsigned flags);
// Those that it was made with; of streams that others made, those of one that does not wait.
unsigned flags_of(Stream stream);
[[nodiscard]] bool is_late(Stream stream);
// Now, or later.
void enqueue(Stream stream, std::function<void()> work);
// So many pieces of work so far.
[[nodiscard]] std::size_t enqueued(Stream stream);
void run_until(Stream stream, std::size_t behind);
void run_all(Stream stream);
void run_all();

}  // namespace fake

#define FAKE(name, ...) extern "C" __attribute__((visibility("default"))) Result name(__VA_ARGS__)
#define ENTER(name)                           \
    const std::scoped_lock lock(fake::mutex); \
    if (const Result r = fake::enter(#name); r != kSuccess) return r;
