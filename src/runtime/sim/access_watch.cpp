// See access_watch.h.
#include "runtime/sim/access_watch.h"

#include <algorithm>

namespace parpy::sim {

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

// visit(record), for the records of exactly these bytes.
template <class Visit>
void AccessWatch::for_each_record(std::uintptr_t address, std::size_t bytes, const Visit& visit) {
    const std::uintptr_t end = address + bytes;
    for (std::uintptr_t at = address; at < end;) {
        const std::uintptr_t first = at % kWordBytes;
        const std::uintptr_t count = std::min(kWordBytes - first, end - at);
        Word& here = word(at / kWordBytes);
        at += count;
        if (!here.bytes && count == kWordBytes) {
            visit(here.all);
            continue;
        }
        if (!here.bytes) {
            here.bytes = std::make_unique<std::array<Record, kWordBytes>>();
            here.bytes->fill(here.all);
        }
        for (std::uintptr_t byte = first; byte < first + count; ++byte)
            visit((*here.bytes)[byte]);
    }
}

void AccessWatch::forget(std::uintptr_t address, std::size_t bytes, bool set) {
    for_each_record(address, bytes, [&](Record& record) {
        record = {};
        record.unset = !set;
    });
}

bool AccessWatch::ordered(const Entry& entry, const Actor& actor) {
    const Actor& other = entry.actor;
    if (other.block == actor.block) {
        if (other.thread == actor.thread || other.barriers < actor.barriers) return true;
        if (other.warp == actor.warp && other.syncs < actor.syncs) return true;
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

// An atomic operation learns the knowledge published by those before it on the same address, and
// publishes the accesses of its block up to its last fence, and the block's knowledge.
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
    for_each_record(address, bytes, [&](Record& record) {
        if (found) return;
        const Entry mine{now_, fence, lines, actor};
        if (!writes(how) && record.unset) {
            found = {.unset = true};
            keep(record.reads, mine);  // a write after this read is a race
            return;
        }
        const auto against = [&](const Entry& entry, bool wrote) {
            if (found || entry.time == 0 || ordered(entry, actor)) return;
            found = {false, entry.actor, wrote, entry.lines};
        };
        // Writes of one value by several threads do not conflict.
        if (how != Touch::kRewrite) against(record.write, true);
        if (how != Touch::kAtomic) {
            for (const Entry& entry : record.atomics)
                against(entry, true);
        }
        if (how != Touch::kRead) {
            for (const Entry& entry : record.reads)
                against(entry, false);
            record.unset = false;
        }
        if (how == Touch::kRead) {
            keep(record.reads, mine);
        } else if (how == Touch::kAtomic) {
            keep(record.atomics, mine);
        } else {
            record.write = mine;
            record.reads = record.atomics = {};
        }
    });
    return found;
}

bool AccessWatch::touch_own(std::uintptr_t address, std::size_t bytes, bool writes) {
    bool set = true;
    for_each_record(address, bytes, [&](Record& record) {
        if (writes) {
            record.unset = false;
        } else {
            set = set && !record.unset;
        }
    });
    return set;
}

}  // namespace parpy::sim
