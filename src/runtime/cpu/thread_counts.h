// Which thread counts a function is compiled with when the counts in its mapping keep changing, as
// they do where they follow the sizes of arrays. Any count gives the same results (loops stride),
// so counts that change are rounded: to powers of two, and where even those have many combinations,
// to every third of them. On a GPU the count is rounded up, which leaves some threads idle; on the
// CPU, where it is a bound, down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace parpy {

// For one function under one set of options. Not safe from several threads at once.
class ThreadCounts {
public:
    // Distinct counts of a label before it is rounded.
    static constexpr std::size_t kDistinctValues = 3;
    // Combinations before all that had more than one count are rounded; as many again before they
    // are rounded coarsely.
    static constexpr std::size_t kMostCombinations = 16;

    enum class Round : std::uint8_t { kUp, kDown };
    // `limit`: a count above it means the same as the limit; 0: there is none.
    ThreadCounts(Round round, std::int64_t limit) : round_(round), limit_(limit) {}

    // What to compile a call with that asks for `wanted`, one count per label; 0 stays 0.
    [[nodiscard]] std::vector<std::int64_t> settle(std::span<const std::int64_t> wanted);

private:
    [[nodiscard]] std::int64_t rounded(std::int64_t count, bool coarsely) const;

    Round round_;
    std::int64_t limit_;
    std::vector<std::vector<std::int64_t>> seen_;  // per label, up to one more than kDistinctValues
    std::vector<std::vector<std::int64_t>> combinations_;  // settled on so far
};

}  // namespace parpy
