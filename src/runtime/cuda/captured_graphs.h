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

    // The driver can.
    [[nodiscard]] static bool available();

    // A call on `device` with these slots was among the last ones that this was asked of, and
    // `stream` is not captured itself.
    [[nodiscard]] bool repeats(const Device& device, std::span<const std::uint64_t> slots,
                               Stream stream);
    // From now on no call repeats.
    void give_up();

    // Enqueues on `stream` what `enqueue` would, which is called with another stream, where work is
    // recorded, unless these slots are known. The device is current.
    [[nodiscard]] RuntimeError run(const Device& device, std::span<const std::uint64_t> slots,
                                   Stream stream,
                                   const std::function<RuntimeError(Stream)>& enqueue);

private:
    // Calls with so many different slots in turn are replayed.
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
    std::vector<Call> calls_;    // that repeats() was asked of, the last one first
    bool gave_up_ = false;
};

}  // namespace parpy::cuda
