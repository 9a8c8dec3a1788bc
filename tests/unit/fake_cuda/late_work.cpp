// See fake_state.h.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>

#include "fake_state.h"

namespace fake {

namespace {

// `done` counts the pieces that have run.
struct Late {
    std::deque<std::function<void()>> work;
    std::size_t done = 0;
};
std::map<Stream, Late> late;
std::map<Stream, Recorded> recorded;  // by captured stream
std::minstd_rand chance;
std::vector<unsigned> made;  // flags; the handle of stream i is 16 * (i + 1)

}  // namespace

Stream make_stream(unsigned flags) {
    made.push_back(flags);
    return reinterpret_cast<Stream>(16 * made.size());
}

unsigned flags_of(Stream stream) {
    const auto index = reinterpret_cast<std::uintptr_t>(stream) / 16 - 1;
    return index < made.size() ? made[index] : 1;
}

bool is_late(Stream stream) {
    static const bool wanted = emulates && std::getenv("FAKE_CUDA_LATE") != nullptr;
    const auto index = reinterpret_cast<std::uintptr_t>(stream) / 16 - 1;
    return wanted && stream != nullptr && index < made.size() && made[index] == 1;
}

bool records_graphs() {
    static const bool wanted = emulates && std::getenv("FAKE_CUDA_GRAPHS") != nullptr;
    return wanted;
}

void begin_recording(Stream stream) {
    recorded[stream] = {};
}

bool is_recording(Stream stream) {
    return recorded.contains(stream);
}

Recorded end_recording(Stream stream) {
    return std::move(recorded.extract(stream).mapped());
}

void run_until(Stream stream, std::size_t behind) {
    Late& queue = late[stream];
    while (queue.done < behind && !queue.work.empty()) {
        const std::function<void()> next = std::move(queue.work.front());
        queue.work.pop_front();
        next();
        ++queue.done;
    }
}

void run_all(Stream stream) {
    run_until(stream, ~std::size_t{0});
}

void run_all() {
    for (std::size_t i = 0; i < made.size(); ++i)
        run_all(reinterpret_cast<Stream>(16 * (i + 1)));
}

std::size_t enqueued(Stream stream) {
    const Late& queue = late[stream];
    return queue.done + queue.work.size();
}

void enqueue(Stream stream, std::function<void()> work) {
    if (const auto found = recorded.find(stream); found != recorded.end()) {
        found->second.push_back(std::move(work));
        return;
    }
    if (!is_late(stream)) {
        work();
        return;
    }
    late[stream].work.push_back(std::move(work));
    if (chance() % 3 != 0) return;
    const auto other = std::next(late.begin(), static_cast<long>(chance() % late.size()));
    run_until(other->first, other->second.done + 1 + chance() % 4);
}

}  // namespace fake
