// Questions to ISL, and the limits on its work.
#include "analysis/integers/integer_sets.h"

#include <gtest/gtest.h>

#include <limits>

#include "analysis/integers/affine.h"

namespace parpy {
namespace {

using Answer = IntegerSets::Answer;

// 3 x - 6 y == 1 has rational solutions only.
TEST(IntegerSets, DecidesOverIntegers) {
    IntegerSets sets;
    EXPECT_EQ(sets.solve(2, {{{3, -6}, -1, true}}), Answer::kEmpty);
    EXPECT_EQ(sets.solve(2, {{{3, -6}, -3, true}}), Answer::kNotEmpty);
}

TEST(IntegerSets, FindsTheLeastPoint) {
    IntegerSets sets;
    std::vector<std::int64_t> least;
    // x >= 2, y >= x + 3, x + y even
    const Conjunction constraints = {{{1}, -2}, {{-1, 1}, -3}, {{1, 1, -2}, 0, true}};
    EXPECT_EQ(sets.solve(3, constraints, &least), Answer::kNotEmpty);
    EXPECT_EQ(least, (std::vector<std::int64_t>{2, 6, 4}));
}

TEST(IntegerSets, ProjectsOut) {
    IntegerSets sets;
    // 0 <= x < n, x >= 5: exists for n >= 6
    const auto pieces = sets.project(2, 1, {{{1}, 0}, {{-1, 1}, -1}, {{1}, -5}});
    ASSERT_TRUE(pieces.has_value());
    ASSERT_EQ(pieces->size(), 1u);
    ASSERT_EQ(pieces->front().size(), 1u);
    EXPECT_EQ(pieces->front().front().coefficients, std::vector<std::int64_t>{1});
    EXPECT_EQ(pieces->front().front().constant, -6);
}

TEST(IntegerSets, BoundsExpressions) {
    IntegerSets sets;
    const Conjunction triangle = {{{1}, 0}, {{-1, 1}, 0}, {{0, -1}, 9}};  // 0 <= x <= y <= 9
    const IntegerSets::Range range = sets.range(2, triangle, {{2, -1}, 1});
    EXPECT_EQ(range.low, -8);
    EXPECT_EQ(range.high, 10);
    EXPECT_FALSE(sets.range(2, {{{1}, 0}}, {{1}, 0}).high.has_value());
}

TEST(IntegerSets, LargeNumbers) {
    IntegerSets sets;
    std::vector<std::int64_t> least;
    constexpr std::int64_t kLarge = std::int64_t{1} << 62;
    EXPECT_EQ(sets.solve(1, {{{1}, -kLarge}}, &least), Answer::kNotEmpty);
    EXPECT_EQ(least, std::vector<std::int64_t>{kLarge});
    // The least multiple of 2^62 beyond 2^63 does not fit: the closest number that does.
    EXPECT_EQ(sets.solve(2, {{{0, 1}, -3}, {{1, -kLarge}, 0, true}}, &least), Answer::kNotEmpty);
    EXPECT_EQ(least, (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 3}));
}

TEST(Affine, OverflowIsNoticed) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    EXPECT_FALSE(sum(Affine::of(kMost), Affine::of(1)).has_value());
    EXPECT_FALSE(sum(*scaled(Affine::symbol(3), kMost), Affine::symbol(3)).has_value());
    const auto zero = sum(Affine::symbol(3), Affine::symbol(3), -1);
    ASSERT_TRUE(zero.has_value());
    EXPECT_TRUE(zero->is_constant());
}

}  // namespace
}  // namespace parpy
