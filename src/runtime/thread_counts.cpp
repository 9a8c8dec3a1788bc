// See thread_counts.h.
#include "runtime/thread_counts.h"

#include <algorithm>
#include <bit>

namespace parpy {

std::int64_t ThreadCounts::rounded(std::int64_t count) const {
    constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // more may not fit a grid
    if (limit_ > 0 && count >= limit_) return limit_;
    if (count <= 0 || count > kLargest) return count;
    const auto value = static_cast<std::uint64_t>(count);
    return static_cast<std::int64_t>(round_ == Round::kUp ? std::bit_ceil(value)
                                                          : std::bit_floor(value));
}

std::vector<std::int64_t> ThreadCounts::settle(std::span<const std::int64_t> wanted) {
    labels_.resize(wanted.size());
    const bool crowded = combinations_.size() >= kMostCombinations;
    const bool overcrowded = combinations_.size() >= 2 * kMostCombinations;
    std::vector<std::int64_t> result(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Label& label = labels_[i];
        auto& seen = label.seen;
        if (seen.size() <= kDistinctValues && std::ranges::find(seen, wanted[i]) == seen.end()) {
            seen.push_back(wanted[i]);
        }
        const std::int64_t count = rounded(wanted[i]);
        if (count <= 0) continue;  // the loop stays sequential
        const bool further = round_ == Round::kUp ? count > label.extreme : count < label.extreme;
        if (label.extreme == 0 || further) label.extreme = count;
        if (seen.size() > (crowded ? 1 : kDistinctValues)) {
            result[i] = overcrowded ? label.extreme : count;
        }
    }
    if (std::ranges::find(combinations_, result) == combinations_.end()) {
        combinations_.push_back(result);
    }
    return result;
}

}  // namespace parpy
