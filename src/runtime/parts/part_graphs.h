// CUDA graphs of a program that is one part of a call (parts.h): the launches between two exchanges
// are captured once, and replayed by later calls with the same slots. A launch costs the host 2 to
// 3 µs, and more if several parts launch at once; a node of a graph costs less than 1 µs of the
// GPU's time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda/device.h"
#include "runtime/parts/parts.h"

namespace parpy::cuda {

class PartGraphs {
    struct Call;

public:
    // One call. The first one with its slots counts launches, the second one captures them, later
    // ones replay them. Its own launches go where enters() says.
    class Run final : public PartWork {
    public:
        Run(PartGraphs& graphs, Call& call, Stream stream);
        ~Run() override;
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;

        // To be called before each launch. False if a graph contains the launch already. Else
        // `stream` is that of the launch, and `recorded` whether it is captured.
        [[nodiscard]] bool enters(Stream& stream, bool& recorded);
        // Whether the last launch was the first one since an exchange.
        [[nodiscard]] bool begins() const { return launches_ == 1; }
        // Enqueues the launches since the last exchange.
        bool flush() override;
        // Later calls must not replay this one: its launches may depend on exchanged numbers.
        void varies() override;
        // To be called when the program has ended without an error. Enqueues the last launches.
        [[nodiscard]] RuntimeError finish();
        // The error because of which flush() returned false.
        [[nodiscard]] const RuntimeError& error() const { return error_; }

    private:
        [[nodiscard]] GraphExec known() const;
        void capture();
        [[nodiscard]] Result end_capture(GraphExec& graph);

        PartGraphs& graphs_;
        Call& call_;
        Stream stream_;
        Stream recorded_ = nullptr;  // captures launches; null: none are captured
        std::size_t segment_ = 0;    // the number of exchanges so far
        std::size_t launches_ = 0;   // since the last exchange
        std::vector<std::size_t> counts_;
        RuntimeError error_;
    };

    PartGraphs();
    ~PartGraphs();
    PartGraphs(const PartGraphs&) = delete;
    PartGraphs& operator=(const PartGraphs&) = delete;

    // Null if the launches of the call are to be enqueued one by one. The device is current.
    [[nodiscard]] std::unique_ptr<Run> begin(const Device& device,
                                             std::span<const std::uint64_t> slots, Stream stream);

private:
    static constexpr std::size_t kMostKept = 8;  // calls with different slots
    static constexpr std::size_t kFewest = 6;  // launches of a graph; fewer begin sooner one by one
    static constexpr std::size_t kMost = 1U << 14U;  // launches of a call

    static void destroy(Call& call);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Call>> calls_;  // the most recently used first
};

}  // namespace parpy::cuda
