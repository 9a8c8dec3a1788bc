// CUDA graphs of a program (opts.use_cuda_graphs): the launches of one call, captured once and
// replayed by later calls with the same slots. Thread-safe.
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

    // Enqueues on `stream` what `enqueue` would, which is called with another stream, where work is
    // recorded, unless these slots are known. The device is current.
    [[nodiscard]] RuntimeError run(const Device& device, std::span<const std::uint64_t> slots,
                                   Stream stream,
                                   const std::function<RuntimeError(Stream)>& enqueue);

private:
    // Calls with so many different slots in turn are replayed.
    static constexpr std::size_t kMostKept = 8;

    struct Graph {
        const Device* device;
        std::vector<std::uint64_t> slots;
        GraphExec executable;
    };
    [[nodiscard]] RuntimeError capture(const std::function<RuntimeError(Stream)>& enqueue,
                                       GraphExec& result) const;
    static void destroy(const Graph& graph);

    std::mutex mutex_;
    std::vector<Graph> graphs_;  // the most recently used first
};

}  // namespace parpy::cuda
