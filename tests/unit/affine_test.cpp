// Which sums of bounded terms are never zero: the quick test before the exact test.
#include "analysis/integers/affine.h"

#include <gtest/gtest.h>

#include <random>

namespace parpy {
namespace {

// Searches exhaustively for a zero of the sum.
bool is_zero_somewhere(std::int64_t factor, std::int64_t most, const std::vector<Spread>& rest,
                       std::size_t at, std::int64_t value) {
    if (at == rest.size()) {
        for (std::int64_t d = 1; d <= most; ++d)
            if (value + factor * d == 0 || value - factor * d == 0) return true;
        return false;
    }
    const auto width = static_cast<std::int64_t>(rest[at].width);
    for (std::int64_t x = -width; x <= width; ++x)
        if (is_zero_somewhere(factor, most, rest, at + 1, value + rest[at].coefficient * x))
            return true;
    return false;
}

TEST(NeverZero, IsNeverWrong) {
    std::mt19937 random(1);
    const auto number = [&](int low, int high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int proved = 0, free = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::int64_t factor = number(-9, 9), most = number(0, 5), constant = number(-9, 9);
        std::vector<Spread> rest(static_cast<std::size_t>(number(0, 3)));
        for (Spread& term : rest)
            term = {number(-30, 30), static_cast<std::uint64_t>(number(0, 4))};
        const bool never = never_zero(factor, static_cast<std::uint64_t>(most), rest, constant);
        const bool truth = !is_zero_somewhere(factor, most, rest, 0, constant);
        ASSERT_TRUE(truth || !never) << factor << " " << most << " " << constant;
        proved += never ? 1 : 0;
        free += truth ? 1 : 0;
    }
    EXPECT_GT(10 * proved, 8 * free);  // `free`: sums that are never zero
}

TEST(NeverZero, RowsInAnyOrderOfTheLoops) {
    EXPECT_TRUE(never_zero(100, 9, {{1, 99}}, 0));    // a[100 * i + j], j < 100
    EXPECT_FALSE(never_zero(100, 9, {{1, 100}}, 0));  // j <= 100
    EXPECT_TRUE(never_zero(1, 99, {{100, 9}}, 0));    // the loop over j around the loop over i
    EXPECT_TRUE(never_zero(1, 99, {{100, Spread{}.width}}, 0));
    EXPECT_FALSE(never_zero(1, 100, {{100, 9}}, 0));
    EXPECT_TRUE(never_zero(10, 9, {{1, 9}, {100, 5}}, 0));
    EXPECT_TRUE(never_zero(2, Spread{}.width, {{4, Spread{}.width}}, 1));
    EXPECT_TRUE(never_zero(7, 0, {{1, 5}}, 3));  // one iteration
}

TEST(NeverZero, ExtremeNumbers) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    constexpr std::uint64_t kAny = Spread{}.width;
    for (const std::int64_t a : {kLeast, kMost, std::int64_t{-1}, std::int64_t{1}}) {
        EXPECT_TRUE(never_zero(a, kAny, {}, 0));
        EXPECT_FALSE(never_zero(a, kAny, {{a, kAny}}, 0));
        EXPECT_FALSE(never_zero(a, kAny, {{kLeast, kAny}, {kMost, kAny}, {1, kAny}}, kLeast));
        EXPECT_TRUE(never_zero(0, kAny, {{0, kAny}}, a));
    }
    EXPECT_FALSE(never_zero(-1, kAny, {}, kLeast));
    EXPECT_FALSE(never_zero(0, kAny, {}, 0));
}

}  // namespace
}  // namespace parpy
