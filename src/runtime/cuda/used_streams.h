// Memory that outlives calls may be used on any stream, so it is freed behind the work of all of
// them: in the order of the default stream, which waits by itself for every stream but those made
// "non-blocking". Work on such streams is noted here, by an event each, for the default stream to
// wait for. No stream is used after the call that it was given to: it may be gone by then.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// The streams of one device. Thread-safe; the device is current.
class UsedStreams {
public:
    [[nodiscard]] static UsedStreams& of(const Device& device);

    // Memory that outlives calls begins and ends; without any, nothing is noted.
    void begin() { live_.fetch_add(1, std::memory_order_relaxed); }
    // Frees it after the work of every stream; where somebody captures a graph on a stream that
    // waits for the default one, at a later retry().
    void end(DevicePointer pointer);
    // The same, at a later retry(); may be called where nothing of CUDA may.
    void end_later(DevicePointer pointer);
    // Frees what could not be freed before.
    void retry();
    // Waits for the default stream and what was noted, unless such a graph is captured.
    void wait();

    // Work was enqueued on `stream`.
    void note(Stream stream) {
        if (stream != nullptr && live_.load(std::memory_order_relaxed) != 0) note_other(stream);
    }

private:
    struct Used {
        Stream stream;
        Event event;  // behind the last work on it
    };

    void note_other(Stream stream);
    void keep_unfreed(DevicePointer pointer);
    void let_default_stream_wait();
    bool free_now(DevicePointer pointer);

    explicit UsedStreams(const Device& device) : device_(device) {}

    const Device& device_;
    std::atomic<long> live_{0};
    std::atomic<bool> has_unfreed_{false};
    std::mutex mutex_;
    std::vector<Used> used_;
    std::vector<Event> spare_;
    std::mutex unfreed_mutex_;  // held for nothing but a look at the list
    std::vector<DevicePointer> unfreed_;
};

}  // namespace parpy::cuda
