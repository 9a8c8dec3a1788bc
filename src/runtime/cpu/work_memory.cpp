// See work_memory.h. The size of each block precedes it.
#include "runtime/cpu/work_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace parpy {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes per thread

struct alignas(kAlignment) Block {
    std::size_t bytes;  // after this header
};

class Kept {
public:
    ~Kept() {
        for (Block* block : blocks_)
            std::free(block);
    }

    // The smallest sufficient block, but none that is far too large.
    Block* take(std::size_t bytes) {
        auto best = blocks_.end();
        for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
            const bool fits = (*it)->bytes >= bytes && (*it)->bytes / 4 <= bytes;
            if (fits && (best == blocks_.end() || (*it)->bytes < (*best)->bytes)) best = it;
        }
        if (best == blocks_.end()) return nullptr;
        Block* block = *best;
        blocks_.erase(best);
        bytes_ -= block->bytes;
        return block;
    }

    void put(Block* block) {
        if (block->bytes > kMostKept) return std::free(block);
        while (bytes_ + block->bytes > kMostKept) {  // the least recently used one
            bytes_ -= blocks_.front()->bytes;
            std::free(blocks_.front());
            blocks_.erase(blocks_.begin());
        }
        blocks_.push_back(block);
        bytes_ += block->bytes;
    }

private:
    std::vector<Block*> blocks_;
    std::size_t bytes_ = 0;
};

thread_local Kept kept;

// Asks for large pages, as NumPy does for its arrays: the first use of a page takes the system
// longer than the use of its values.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    constexpr std::size_t kFewest = std::size_t{4} << 20, kPage = 4096;
    if (bytes < kFewest) return;
    const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(memory) % kPage) % kPage;
    madvise(static_cast<char*>(memory) + before, bytes - before, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* borrow_work(std::int64_t bytes) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max() - 4096;
    if (bytes > kMost) return nullptr;
    const std::size_t size =
        (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + kAlignment - 1) / kAlignment *
        kAlignment;
    Block* block = kept.take(size);
    if (block == nullptr) {
        block = static_cast<Block*>(std::aligned_alloc(kAlignment, sizeof(Block) + size));
        if (block == nullptr) return nullptr;
        ask_for_large_pages(block, sizeof(Block) + size);
        block->bytes = size;
    }
    return block + 1;
}

void return_work(void* memory) {
    kept.put(static_cast<Block*>(memory) - 1);
}

}  // namespace parpy
