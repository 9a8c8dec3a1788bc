// Which calls share a program: thread counts that keep changing, classes of sizes.
#include "runtime/calls/generality.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "runtime/cpu/thread_counts.h"

namespace parpy {
namespace {

TEST(SizeClass, HasWhatLiesBetweenPowersOf16) {
    const auto same = [](std::int64_t a, std::int64_t b) {
        return SizeClass(a).number() == SizeClass(b).number();
    };
    EXPECT_TRUE(same(std::numeric_limits<std::int64_t>::min(), 15));
    EXPECT_FALSE(same(15, 16));
    EXPECT_TRUE(same(16, 255));
    EXPECT_FALSE(same(255, 256));
    EXPECT_TRUE(same(std::int64_t{1} << 47, std::numeric_limits<std::int64_t>::max()));
}

TEST(SizeClass, BoundsAndTypicalValueAreItsOwn) {
    for (int power = 0; power < 63; ++power) {
        const SizeClass size(std::int64_t{1} << power);
        EXPECT_EQ(SizeClass(size.least()).number(), size.number());
        EXPECT_EQ(SizeClass(size.most()).number(), size.number());
        EXPECT_EQ(SizeClass(size.typical()).number(), size.number());
        if (size.most() < std::numeric_limits<std::int64_t>::max())
            EXPECT_EQ(SizeClass(size.most() + 1).number(), size.number() + 1);
    }
}

// Two labels take all combinations of the thread counts below.
std::set<std::vector<std::int64_t>> settled(ThreadCounts& counts) {
    std::set<std::vector<std::int64_t>> result;
    for (std::int64_t i = 1; i <= 4000; i += 7) {
        for (const std::int64_t j : {i, 3 * i, 70 * i})
            result.insert(counts.settle(std::vector{i, j}));
    }
    return result;
}

TEST(ThreadCounts, AreFewAndNeverFarFromWhatIsWanted) {
    ThreadCounts up(ThreadCounts::Round::kUp, 0);
    EXPECT_LE(settled(up).size(), 64U);
    for (const std::int64_t wanted : {1, 10, 100, 1000, 1024, 5000}) {
        const std::int64_t count = up.settle(std::vector<std::int64_t>{wanted, wanted})[0];
        EXPECT_GE(count, wanted);
        EXPECT_LE(count, 8 * wanted);
    }
    EXPECT_EQ(up.settle(std::vector<std::int64_t>{1024, 0}), (std::vector<std::int64_t>{1024, 0}));
}

TEST(ThreadCounts, DoNotPassTheirLimit) {
    ThreadCounts down(ThreadCounts::Round::kDown, 2);
    EXPECT_LE(settled(down).size(), 16U);
    EXPECT_EQ(down.settle(std::vector<std::int64_t>{1, 100}), (std::vector<std::int64_t>{1, 2}));
}

}  // namespace
}  // namespace parpy
