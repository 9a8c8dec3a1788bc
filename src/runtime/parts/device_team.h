// Several GPUs that share a call: each runs one part of it (parts.h), enqueued by a host
// thread of its own, and gets rows of arrays from the others by copies between devices. The copies
// wait for the others by events: no host thread waits for a GPU, and none runs ahead of the others
// by more than a few exchanges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Rows first … last - 1 that part `source` has and another one needs.
struct RowsOfPart {
    int source = 0;
    std::int64_t first = 0, last = 0;
};

// One exchange of rows of an array in C order: `outer` times, `pitch` bytes apart, lie rows of
// `row` bytes, one after the other. `wanted` says for each part which ones it gets. An exchange
// without rows is none: somebody else carries it out.
struct RowExchange {
    std::int64_t outer = 1, row = 0, pitch = 0;
    std::vector<std::vector<RowsOfPart>> wanted;
};

class DeviceTeam {
public:
    // The part p of a call runs on the device devices[p]; one device may run several. Null and
    // `error` set on failure.
    [[nodiscard]] static std::unique_ptr<DeviceTeam> make(const std::vector<int>& devices,
                                                          RuntimeError& error);
    ~DeviceTeam();
    DeviceTeam(const DeviceTeam&) = delete;
    DeviceTeam& operator=(const DeviceTeam&) = delete;

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] const Device& device(std::size_t part) const { return members_[part]->device; }
    // What the programs of the part are enqueued on.
    [[nodiscard]] Stream stream(std::size_t part) const { return members_[part]->stream; }

    // Before each call, of which there is one at a time: its exchanges, by their numbers.
    void begin(std::vector<RowExchange> exchanges);
    [[nodiscard]] bool exchanges(std::int64_t number) const;

    // Thread `part` takes part in an exchange, all of them in the same order. `data` is the part's
    // array. False with `error` set, or without it where another part has failed. The device of the
    // part is current.
    [[nodiscard]] bool exchange(std::size_t part, std::int64_t number, void* data,
                                RuntimeError& error);

    // Nobody waits for anybody any more.
    void fail() { failed_.store(true, std::memory_order_release); }
    // Waits for the work of all devices.
    [[nodiscard]] RuntimeError synchronize() const;

private:
    static constexpr std::int64_t kAhead = 16;  // exchanges that a part may be ahead of another one

    struct alignas(128) Member {
        explicit Member(const Device& d) : device(d) {}
        const Device& device;
        Context context = nullptr;
        Stream stream = nullptr;
        std::int64_t turn = 0;  // exchanges of this call, its own thread's alone
        std::array<void*, kAhead> data{};
        std::array<Event, kAhead>
            ready{};  // its rows may be read, and those of others stored to it
        std::array<Event, kAhead> taken{};  // it has the rows of others
        // Exchanges whose events are recorded, and those that it has done with.
        std::atomic<std::int64_t> is_ready{0}, has_taken{0}, is_done{0};
    };

    DeviceTeam() = default;
    [[nodiscard]] bool reaches(const std::atomic<std::int64_t>& counter, std::int64_t turn) const;
    [[nodiscard]] Result copy(const Member& to, const Member& from, const RowExchange& exchange,
                              const RowsOfPart& rows, std::size_t slot) const;
    [[nodiscard]] Result enqueue(Member& mine, std::size_t part, const RowExchange& exchange,
                                 bool& left) const;

    std::vector<std::unique_ptr<Member>> members_;
    std::vector<RowExchange> exchanges_;
    std::atomic<bool> failed_{false};
};

}  // namespace parpy::cuda
