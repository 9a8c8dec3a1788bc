// CUDA graphs of a program: the launches of one call, captured once and replayed by later calls
// with the same slots. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

class CapturedGraphs {
public:
    CapturedGraphs() = default;
    ~CapturedGraphs();
    CapturedGraphs(const CapturedGraphs&) = delete;
    CapturedGraphs& operator=(const CapturedGraphs&) = delete;

    // Whether the driver supports it.
    [[nodiscard]] static bool available();

    // Whether a call on `device` with these slots was one of the last for which this was called,
    // and `stream` is not captured itself.
    [[nodiscard]] bool repeats(const Device& device, std::span<const std::uint64_t> slots,
                               Stream stream);
    // No call repeats any more.
    void give_up();

    // Enqueues on `stream` the work of `enqueue`, which is called, with another stream that records
    // it, only if these slots are new. The device is current.
    [[nodiscard]] RuntimeError run(const Device& device, std::span<const std::uint64_t> slots,
                                   Stream stream,
                                   const std::function<RuntimeError(Stream)>& enqueue);

private:
    // The most calls with different slots whose graphs are kept.
    static constexpr std::size_t kMostKept = 8;

    struct Call {
        const Device* device;
        std::vector<std::uint64_t> slots;
        [[nodiscard]] bool is(const Device& other, std::span<const std::uint64_t> values) const;
    };
    struct Graph {
        Call call;
        GraphExec executable;
    };
    [[nodiscard]] RuntimeError capture(const std::function<RuntimeError(Stream)>& enqueue,
                                       GraphExec& result) const;
    static void destroy(const Graph& graph);

    std::mutex mutex_;
    std::vector<Graph> graphs_;  // the most recently used first
    std::vector<Call> calls_;    // calls for which repeats() was called, the last one first
    bool gave_up_ = false;
};

}  // namespace parpy::cuda
