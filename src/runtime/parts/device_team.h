// Several GPUs that share a call: each runs one part of it (parts.h), enqueued by its own host
// thread, and receives rows of arrays from the others by copies between devices. Events order the
// copies: no host thread waits for a GPU, and none runs ahead of the others by more than a few
// exchanges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Rows first … last - 1, which part `source` has and another part needs.
struct RowsOfPart {
    int source = 0;
    std::int64_t first = 0, last = 0;
};

// One exchange of rows of an array in C order: `outer` groups, `pitch` bytes apart, of consecutive
// rows of `row` bytes. `wanted` has, for each part, the rows that it receives. An exchange without
// rows is not carried out here. If it is only begun, the stream of a part does not wait for rows
// before the end of the exchange: until then the program may neither touch the rows that the part
// receives nor change the rows that it sends.
struct RowExchange {
    static constexpr std::int64_t kWhole = -1, kBegin = -2;
    std::int64_t outer = 1, row = 0, pitch = 0;
    std::vector<std::vector<RowsOfPart>> wanted;
    std::int64_t begun = kWhole;  // or kBegin; for its end the number of the exchange's begin
};

class DeviceTeam {
public:
    // Part p of a call runs on the device devices[p]; a device may run several parts. Null and
    // `error` set on failure.
    [[nodiscard]] static std::unique_ptr<DeviceTeam> make(const std::vector<int>& devices,
                                                          RuntimeError& error);
    ~DeviceTeam();
    DeviceTeam(const DeviceTeam&) = delete;
    DeviceTeam& operator=(const DeviceTeam&) = delete;

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] const Device& device(std::size_t part) const { return members_[part]->device; }
    // The stream for the programs of the part.
    [[nodiscard]] Stream stream(std::size_t part) const { return members_[part]->stream; }

    // Begins a call; calls must not overlap. `exchanges` are its exchanges, by number. The parts
    // run after the work that the default streams of their devices have now.
    [[nodiscard]] RuntimeError begin(std::vector<RowExchange> exchanges);
    [[nodiscard]] bool exchanges(std::int64_t number) const;

    // To be called by the thread of each part, for all exchanges in the same order. `data` is the
    // part's array. False with `error` set, or without it if another part has failed. The device of
    // the part must be current.
    [[nodiscard]] bool exchange(std::size_t part, std::int64_t number, void* data,
                                RuntimeError& error);

    // Ends all waits of parts for each other.
    void fail() { failed_.store(true, std::memory_order_release); }
    // Waits for the work of all devices.
    [[nodiscard]] RuntimeError synchronize() const;

private:
    static constexpr std::int64_t kAhead = 16;  // by which a part may be ahead of another one

    struct alignas(128) Member {
        explicit Member(const Device& d) : device(d) {}
        const Device& device;
        Context context = nullptr;
        Stream stream = nullptr;
        Stream copies = nullptr;          // for rows that travel while `stream` computes
        std::int64_t turn = 0;            // exchanges of this call; used by its own thread only
        std::vector<std::int64_t> begun;  // by number of a begun exchange, its turn
        std::array<void*, kAhead> data{};
        std::array<Event, kAhead>
            ready{};  // others may read its rows, and store to the rows that it receives
        std::array<Event, kAhead> taken{};  // it has received its rows
        // Exchanges whose events are recorded, and exchanges that are complete.
        std::atomic<std::int64_t> is_ready{0}, has_taken{0}, is_done{0};
    };

    DeviceTeam() = default;
    [[nodiscard]] bool reaches(const std::atomic<std::int64_t>& counter, std::int64_t turn) const;
    [[nodiscard]] Result copy(const Member& to, const Member& from, const RowExchange& exchange,
                              const RowsOfPart& rows, std::size_t slot, Stream stream) const;
    // Enqueues the copies of the rows that the part receives on a stream of it.
    [[nodiscard]] Result receive(Member& mine, std::size_t part, const RowExchange& exchange,
                                 Stream stream, bool& left) const;
    // Lets the stream of the part wait for the rows that it receives, if they were enqueued on
    // another stream, and for the copies of its rows to other parts.
    [[nodiscard]] Result finish(Member& mine, std::size_t part, const RowExchange& exchange,
                                std::int64_t turn, bool& left) const;

    std::vector<std::unique_ptr<Member>> members_;
    std::vector<RowExchange> exchanges_;
    std::atomic<bool> failed_{false};
};

}  // namespace parpy::cuda
