// See allocators.h.
#include "runtime/cuda/memory/allocators.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace parpy::cuda {

namespace {

constexpr unsigned kNoTiming = 2;  // of an event

// Never destroyed: arrays are freed until the very end of the process.
struct State {
    std::atomic<bool> any{false};  // whether an allocator was ever chosen
    std::mutex mutex;
    std::shared_ptr<Allocator> chosen;
    std::unordered_map<DevicePointer, LentMemory> lent;
};

State& state() {
    static State& all = *new State;
    return all;
}

}  // namespace

void choose_allocator(std::shared_ptr<Allocator> allocator) {
    State& s = state();
    if (allocator != nullptr) s.any.store(true, std::memory_order_release);
    {
        const std::scoped_lock lock(s.mutex);
        s.chosen.swap(allocator);
    }  // the former one may end here, without the lock
}

std::shared_ptr<Allocator> chosen_allocator() {
    State& s = state();
    if (!s.any.load(std::memory_order_acquire)) return nullptr;
    const std::scoped_lock lock(s.mutex);
    return s.chosen;
}

DevicePointer LentMemory::borrow(std::shared_ptr<Allocator> from, std::size_t bytes, Stream stream,
                                 RuntimeError& error) {
    const Allocator::Memory memory = from->allocate(bytes, stream, error);
    if (error.failed()) return 0;
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.lent.insert_or_assign(memory.pointer, LentMemory(std::move(from), memory.owner, stream));
    return memory.pointer;
}

bool LentMemory::is_lent(DevicePointer pointer) {
    State& s = state();
    if (!s.any.load(std::memory_order_acquire)) return false;
    const std::scoped_lock lock(s.mutex);
    return s.lent.contains(pointer);
}

std::optional<LentMemory> LentMemory::taken(DevicePointer pointer) {
    State& s = state();
    if (!s.any.load(std::memory_order_acquire)) return std::nullopt;
    const std::scoped_lock lock(s.mutex);
    auto found = s.lent.extract(pointer);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
}

void let_wait(Stream stream, Stream other) {
    if (other == stream) return;
    const Driver& driver = Driver::instance();
    Event event = nullptr;
    if (driver.cuEventCreate(&event, kNoTiming) == kSuccess) {
        if (driver.cuEventRecord(event, other) == kSuccess)
            driver.cuStreamWaitEvent(stream, event, 0);
        driver.cuEventDestroy(event);
    } else {
        driver.cuStreamSynchronize(other);
    }
}

}  // namespace parpy::cuda
