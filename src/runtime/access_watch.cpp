// See access_watch.h.
#include "runtime/access_watch.h"

#include <algorithm>

namespace parpy::sim {

namespace {

constexpr std::uintptr_t kWordBytes = 4;

}  // namespace

AccessWatch::Word& AccessWatch::word(std::uintptr_t number) {
    const std::uintptr_t page = number / kPageWords;
    if (page != last_number_) {
        std::unique_ptr<Page>& found = pages_[page];
        if (!found) found = std::make_unique<Page>();
        last_number_ = page;
        last_page_ = found.get();
    }
    return (*last_page_)[number % kPageWords];
}

// visit(word, a bit for each byte of it)
template <class Visit>
void AccessWatch::for_each_word(std::uintptr_t address, std::size_t bytes, const Visit& visit) {
    const std::uintptr_t end = address + bytes;
    for (std::uintptr_t at = address; at < end;) {
        const std::uintptr_t first = at % kWordBytes;
        const std::uintptr_t count = std::min(kWordBytes - first, end - at);
        visit(word(at / kWordBytes), static_cast<std::uint8_t>(((1U << count) - 1) << first));
        at += count;
    }
}

void AccessWatch::forget(std::uintptr_t address, std::size_t bytes, bool set) {
    for_each_word(address, bytes, [&](Word& word, std::uint8_t mask) {
        const auto unset = static_cast<std::uint8_t>(set ? word.unset & ~mask : word.unset | mask);
        word = {};
        word.unset = unset;
    });
}

bool AccessWatch::ordered(const Entry& entry, const Actor& actor) {
    const Actor& other = entry.actor;
    if (other.block == actor.block) {
        if (other.thread == actor.thread || other.barriers < actor.barriers) return true;
        if (other.warp == actor.warp && other.exchanges < actor.exchanges) return true;
    }
    const auto known = known_.find(actor.block);
    if (known == known_.end()) return false;
    const auto until = known->second.find(other.block);
    if (until == known->second.end()) return false;
    return (entry.fence != 0 ? entry.fence : entry.time) <= until->second;
}

void AccessWatch::keep(Pair& pair, const Entry& entry) {
    const auto same = [&](const Entry& other) {
        return other.actor.block == entry.actor.block && other.actor.thread == entry.actor.thread;
    };
    const bool first = same(pair[0]) || (!same(pair[1]) && pair[0].time < pair[1].time);
    pair[first ? 0 : 1] = entry;
}

// An atomic operation learns what those before it on the same address made known, and makes known
// what its block did until its last fence, and what that knows.
void AccessWatch::synchronize(const Actor& actor, std::uintptr_t address) {
    const auto fence = fences_.find(actor.block);
    const auto published = published_.find(address);
    if (fence == fences_.end() && published == published_.end()) return;
    const auto join = [](Knowledge& to, const Knowledge& from) {
        for (const auto& [block, time] : from) {
            std::uint64_t& known = to[block];
            known = std::max(known, time);
        }
    };
    Knowledge& known = known_[actor.block];
    if (published != published_.end()) join(known, published->second);
    if (fence == fences_.end()) return;
    Knowledge& here = published_[address];
    join(here, known);
    here[actor.block] = std::max(here[actor.block], fence->second);
}

std::optional<AccessWatch::Finding> AccessWatch::touch(const Actor& actor, std::uintptr_t address,
                                                       std::size_t bytes, Touch how,
                                                       const int* lines) {
    ++now_;
    std::uint64_t fence = 0;
    if (how == Touch::kAtomic) {
        synchronize(actor, address);
        if (const auto last = fences_.find(actor.block); last != fences_.end())
            fence = last->second;
    }
    std::optional<Finding> found;
    for_each_word(address, bytes, [&](Word& word, std::uint8_t mask) {
        if (found) return;
        if (how != Touch::kWrite && (word.unset & mask) != 0) {
            found = {.unset = true};
            return;
        }
        const auto against = [&](const Entry& entry, bool wrote) {
            if (found || entry.time == 0 || (entry.bytes & mask) == 0) return;
            if (ordered(entry, actor)) return;
            found = {false, entry.actor, wrote, entry.lines};
        };
        against(word.write, true);
        if (how != Touch::kAtomic) {
            for (const Entry& entry : word.atomics)
                against(entry, true);
        }
        if (how != Touch::kRead) {
            for (const Entry& entry : word.reads)
                against(entry, false);
            word.unset = static_cast<std::uint8_t>(word.unset & ~mask);
        }
        const Entry mine{now_, fence, lines, actor, mask};
        if (how == Touch::kRead) {
            keep(word.reads, mine);
        } else if (how == Touch::kAtomic) {
            keep(word.atomics, mine);
        } else {
            word.write = mine;
            if (mask == 15) word.reads = word.atomics = {};
        }
    });
    return found;
}

bool AccessWatch::touch_own(std::uintptr_t address, std::size_t bytes, bool writes) {
    bool set = true;
    for_each_word(address, bytes, [&](Word& word, std::uint8_t mask) {
        if (writes) {
            word.unset = static_cast<std::uint8_t>(word.unset & ~mask);
        } else {
            set = set && (word.unset & mask) == 0;
        }
    });
    return set;
}

}  // namespace parpy::sim
