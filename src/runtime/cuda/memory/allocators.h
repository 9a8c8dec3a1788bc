// Memory of a GPU that comes from another library's allocator, chosen by the user, instead of the
// GPU's own pool. Graphs that are being captured use the pool in all cases.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

class Allocator {
public:
    struct Memory {
        DevicePointer pointer = 0;
        void* owner = nullptr;  // what `release` gets
    };
    virtual ~Allocator() = default;
    // `bytes` of the current GPU, for work on `stream`; `error` is set on failure.
    [[nodiscard]] virtual Memory allocate(std::size_t bytes, Stream stream,
                                          RuntimeError& error) = 0;
    // Gives memory back in the order of the stream that it was allocated for.
    virtual void release(void* owner) = 0;
};

// Sets the allocator of later allocations on all GPUs; null: their own pools.
void choose_allocator(std::shared_ptr<Allocator> allocator);
// Null: none was chosen.
[[nodiscard]] std::shared_ptr<Allocator> chosen_allocator();

// Lets the stream wait for the work that is now on `other`.
void let_wait(Stream stream, Stream other);

// Memory that an allocator lent. Its allocator may call Python: hold no lock while giving it back.
class LentMemory {
public:
    // The address of new memory, which `taken` finds until then; 0 and `error` set on failure.
    [[nodiscard]] static DevicePointer borrow(std::shared_ptr<Allocator> from, std::size_t bytes,
                                              Stream stream, RuntimeError& error);
    [[nodiscard]] static bool is_lent(DevicePointer pointer);
    // The memory at this address, to be given back; nothing if no allocator lent it.
    [[nodiscard]] static std::optional<LentMemory> taken(DevicePointer pointer);

    // Lets the stream that the memory was allocated for, which must exist, wait for the work that
    // is now on `other`.
    void wait_for(Stream other) const { let_wait(stream_, other); }
    void give_back() const { from_->release(owner_); }

private:
    LentMemory(std::shared_ptr<Allocator> from, void* owner, Stream stream)
        : from_(std::move(from)), owner_(owner), stream_(stream) {}

    std::shared_ptr<Allocator> from_;
    void* owner_;
    Stream stream_;
};

}  // namespace parpy::cuda
