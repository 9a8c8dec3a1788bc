// Memory that outlives calls may be used on any stream, so it is freed after the work of all of
// them: in the order of the default stream, which waits by itself for every stream except
// "non-blocking" ones; it waits for an event after the work on each of these. No stream is used
// after the call that it was given to, for it may be destroyed then.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda/device.h"
#include "runtime/cuda/memory/allocators.h"

namespace parpy::cuda {

// The streams of one device. Thread-safe; the device is current.
class UsedStreams {
public:
    [[nodiscard]] static UsedStreams& of(const Device& device);

    // Counts memory that outlives calls; while there is none, note() does nothing.
    void begin() { live_.fetch_add(1, std::memory_order_relaxed); }
    // Frees it after the work of every stream; if a graph is captured on a stream that waits for
    // the default one, a later retry() frees it.
    void end(DevicePointer pointer);
    // Leaves it to a later retry(); may be called where CUDA calls are forbidden.
    void end_later(DevicePointer pointer);
    // Frees the memory that could not be freed before.
    void retry();
    // Waits for the default stream and the noted work, unless such a graph is captured.
    void wait();

    // To be called after work was enqueued on `stream`.
    void note(Stream stream) {
        if (stream != nullptr && live_.load(std::memory_order_relaxed) != 0) note_other(stream);
    }

private:
    struct Used {
        Stream stream;
        Event event;  // recorded after the last work on it
    };

    void note_other(Stream stream);
    void keep_unfreed(DevicePointer pointer);
    void let_default_stream_wait();
    // Frees it, or adds it to what other allocators get back without the lock; false: it is
    // impossible now.
    bool free_now(DevicePointer pointer, std::vector<LentMemory>& lent);
    void free(std::span<const DevicePointer> pointers);

    explicit UsedStreams(const Device& device) : device_(device) {}

    const Device& device_;
    std::atomic<long> live_{0};
    std::atomic<bool> has_unfreed_{false};
    std::mutex mutex_;
    std::vector<Used> used_;
    std::vector<Event> spare_;
    std::mutex unfreed_mutex_;  // held for accesses to the list only
    std::vector<DevicePointer> unfreed_;
};

}  // namespace parpy::cuda
