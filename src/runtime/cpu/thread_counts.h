// The thread counts that a function is compiled with when the counts of its mapping keep changing,
// as they do if they follow the sizes of arrays. Any count gives the same results (loops stride),
// so changing counts are rounded: to powers of two, and if there are still many combinations, to
// every third of these. On a GPU counts are rounded up, which leaves some threads idle; on the CPU,
// where a count is a bound, down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace parpy {

// Belongs to one function under one set of options. Not safe from several threads at once.
class ThreadCounts {
public:
    // The number of counts of a label before it is rounded.
    static constexpr std::size_t kDistinctValues = 3;
    // Combinations before all labels with more than one count are rounded; after as many again,
    // these are rounded coarsely.
    static constexpr std::size_t kMostCombinations = 16;

    enum class Round : std::uint8_t { kUp, kDown };
    // `limit`: a larger count is equivalent to the limit; 0: there is none.
    ThreadCounts(Round round, std::int64_t limit) : round_(round), limit_(limit) {}

    // The counts to compile a call with that requests `wanted`, one count per label; 0 stays 0.
    [[nodiscard]] std::vector<std::int64_t> settle(std::span<const std::int64_t> wanted);

private:
    [[nodiscard]] std::int64_t rounded(std::int64_t count, bool coarsely) const;

    Round round_;
    std::int64_t limit_;
    std::vector<std::vector<std::int64_t>> seen_;  // per label, up to one more than kDistinctValues
    std::vector<std::vector<std::int64_t>> combinations_;  // results of settle() so far
};

}  // namespace parpy
