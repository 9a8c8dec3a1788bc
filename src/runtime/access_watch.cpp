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
    return until != known->second.end() && entry.time <= until->second;
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
    const bool atomic = how == Touch::kAtomic;
    const bool writes = how != Touch::kRead;
    if (atomic) synchronize(actor, address);
    std::optional<Finding> found;
    for_each_word(address, bytes, [&](Word& word, std::uint8_t mask) {
        if (found) return;
        if (how != Touch::kWrite && (word.unset & mask) != 0) {
            found = {.unset = true};
            return;
        }
        const auto against = [&](const Entry& entry, bool wrote) {
            if (found || entry.time == 0 || (entry.bytes & mask) == 0) return;
            if ((entry.atomic && atomic) || ordered(entry, actor)) return;
            found = {false, entry.actor, wrote, entry.lines};
        };
        against(word.write, true);
        if (writes) {
            against(word.reads[0], false);
            against(word.reads[1], false);
        }
        const Entry mine{now_, lines, actor, mask, atomic};
        if (writes) {
            word.unset = static_cast<std::uint8_t>(word.unset & ~mask);
            word.write = mine;
            if (mask == 15) word.reads[0].time = word.reads[1].time = 0;
            return;
        }
        // Of two readers one is another thread than whoever writes next.
        const auto same = [&](const Entry& entry) {
            return entry.actor.block == actor.block && entry.actor.thread == actor.thread;
        };
        const bool first = same(word.reads[0]) ||
                           (!same(word.reads[1]) && word.reads[0].time < word.reads[1].time);
        word.reads[first ? 0 : 1] = mine;
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
