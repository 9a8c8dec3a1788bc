// See thread_counts.h.
#include "runtime/cpu/thread_counts.h"

#include <algorithm>
#include <bit>

namespace parpy {

std::int64_t ThreadCounts::rounded(std::int64_t count, bool coarsely) const {
    constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // a grid may not have more
    if (limit_ > 0 && count >= limit_) return limit_;
    if (count <= 0 || count > kLargest) return count;
    const auto value = static_cast<std::uint64_t>(count);
    const bool up = round_ == Round::kUp;
    int power = std::countr_zero(up ? std::bit_ceil(value) : std::bit_floor(value));
    // …, 16, 128, 1024, …: includes the most threads of a block.
    constexpr int kEvery = 3, kOf1024 = 10;
    while (coarsely && power > 0 && power < 30 && power % kEvery != kOf1024 % kEvery)
        power += up ? 1 : -1;
    return std::int64_t{1} << power;
}

std::vector<std::int64_t> ThreadCounts::settle(std::span<const std::int64_t> wanted) {
    seen_.resize(wanted.size());
    const bool crowded = combinations_.size() >= kMostCombinations;
    const bool overcrowded = combinations_.size() >= 2 * kMostCombinations;
    std::vector<std::int64_t> result(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto& seen = seen_[i];
        if (seen.size() <= kDistinctValues && std::ranges::find(seen, wanted[i]) == seen.end()) {
            seen.push_back(wanted[i]);
        }
        if (seen.size() > (crowded ? 1 : kDistinctValues)) {
            result[i] = rounded(wanted[i], overcrowded);
        }
    }
    if (std::ranges::find(combinations_, result) == combinations_.end()) {
        combinations_.push_back(result);
    }
    return result;
}

}  // namespace parpy
