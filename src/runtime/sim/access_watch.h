// Records the memory accesses of the threads of one checked launch. It finds two threads that use
// the same bytes, one of them to write, without an order between them, and reads of bytes that were
// never written. One worker runs the launch, so nothing here is locked.
//
// Accesses are ordered by: a barrier of the block; __syncwarp() of the warp (shuffles, votes and
// matches order no memory, as CUDA defines them); and a fence after the first access, then an
// atomic operation of its block, then one of the other's block on the same address. Atomic
// operations are not in conflict with each other; after a fence they publish the block's accesses.
// This is coarser than the memory model (a block learns what one of its threads learns, and a warp
// learns what some of its lanes do), so every finding is a fault, but not every fault is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace parpy::sim {

// The thread of an access, and how many barriers and __syncwarp() came before.
struct Actor {
    std::uint32_t block = 0;
    std::uint16_t thread = 0, warp = 0;
    std::uint32_t barriers = 0, syncs = 0;
};

// kRewrite: an ordinary write of the value that is already present.
enum class Touch : int { kRead, kWrite, kAtomic, kRewrite };
[[nodiscard]] constexpr bool writes(Touch how) {
    return how == Touch::kWrite || how == Touch::kRewrite;
}

class AccessWatch {
public:
    struct Finding {
        bool unset = false;  // read without a write before; no other member is set
        Actor other;
        bool other_wrote = false;
        const int* other_lines = nullptr;
    };

    // The bytes become untouched, and without a value (`set`: with some value).
    void forget(std::uintptr_t address, std::size_t bytes, bool set);
    // Records an access. `lines`: of the device text, the innermost first, ending in 0.
    [[nodiscard]] std::optional<Finding> touch(const Actor& actor, std::uintptr_t address,
                                               std::size_t bytes, Touch how, const int* lines);
    // The same for memory that only its own thread can use. False: it reads unset bytes.
    [[nodiscard]] bool touch_own(std::uintptr_t address, std::size_t bytes, bool writes);
    void fence(const Actor& actor) { fences_[actor.block] = now_; }

private:
    struct Entry {
        std::uint64_t time = 0;   // 0: none
        std::uint64_t fence = 0;  // atomic operations: the last fence of their block before them
        const int* lines = nullptr;
        Actor actor;
    };
    // Accesses by two threads: at least one differs from the next thread that touches the bytes.
    using Pair = std::array<Entry, 2>;
    // The accesses to bytes that were only used together.
    struct Record {
        Entry write;
        Pair reads, atomics;
        bool unset = false;
    };
    static constexpr std::uintptr_t kWordBytes = 4;
    struct Word {
        Record all;
        std::unique_ptr<std::array<Record, kWordBytes>> bytes;  // instead, once a part was accessed
    };
    static constexpr std::uintptr_t kPageWords = 256;
    using Page = std::array<Word, kPageWords>;
    // By block: the time up to which its accesses are known.
    using Knowledge = std::unordered_map<std::uint32_t, std::uint64_t>;

    Word& word(std::uintptr_t number);
    [[nodiscard]] bool ordered(const Entry& entry, const Actor& actor);
    static void keep(Pair& pair, const Entry& entry);
    void synchronize(const Actor& actor, std::uintptr_t address);
    template <class Visit>
    void for_each_record(std::uintptr_t address, std::size_t bytes, const Visit& visit);

    std::uint64_t now_ = 0;
    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
    std::uintptr_t last_number_ = ~std::uintptr_t{0};
    Page* last_page_ = nullptr;
    Knowledge fences_;
    std::unordered_map<std::uint32_t, Knowledge> known_;       // by block
    std::unordered_map<std::uintptr_t, Knowledge> published_;  // by the address of an atomic
};

}  // namespace parpy::sim
