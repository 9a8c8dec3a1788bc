// Intervals of expressions, which no pass prints: one program per case, asked at marked stores.
#include "analysis/integers/intervals.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "ir/visit.h"

namespace parpy {
namespace {

// The interval of the value of the n-th store to array `out`.
class IntervalsTest : public testing::Test {
protected:
    void read(const std::string& body) {
        const std::string text =
            "entry f(out: i64[64] written, p: i32[64], c: u8[64], e: i64 @0.extent0, n: i64) -> "
            "void:\n" +
            body;
        Diagnostics diagnostics;
        ASSERT_TRUE(ir::parse(text, "test.ir", module_, diagnostics))
            << render(diagnostics, module_.sources);
        const ir::Function& function = *module_.entry_function();
        const Intervals intervals(function);
        found_.clear();
        ir::for_each_stmt(function.body, [&](const ir::Stmt& stmt) {
            if (const auto* store = stmt.as<ir::Store>()) {
                found_.push_back(intervals.of(store->value));
            }
        });
    }

    void expect(std::size_t store, std::int64_t low, std::int64_t high) {
        ASSERT_LT(store, found_.size());
        EXPECT_EQ(found_[store].low, low);
        EXPECT_EQ(found_[store].high, high);
    }

    static constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

    ir::Module module_;
    std::vector<Interval> found_;
};

TEST_F(IntervalsTest, LoopVariablesLieBetweenTheirBounds) {
    read(
        "    for i: i64 in range(2, 10, 3):\n"
        "        out[0] = i\n"
        "    for j: i64 in range(9, -1, -1):\n"
        "        out[0] = j\n"
        "    for k: i64 in range(n):\n"
        "        out[0] = k\n"
        "    for l: i64 in range(0, 10, n):\n"
        "        out[0] = l\n");
    expect(0, 2, 9);
    expect(1, 0, 9);
    expect(2, 0, kMax - 1);
    expect(3, 0, 9);
}

TEST_F(IntervalsTest, ArithmeticFollowsTheEnds) {
    read(
        "    for i: i64 in range(-3, 5):\n"
        "        out[0] = i * -2 + 1\n"
        "        out[0] = i // 2\n"
        "        out[0] = i % 3\n"
        "        out[0] = abs(i)\n"
        "        out[0] = square(i)\n"
        "        out[0] = i & 6\n"
        "        out[0] = max(i, 0) >> 1\n"
        "        out[0] = index(i, 64)\n");
    expect(0, -7, 7);
    expect(1, -2, 2);
    expect(2, 0, 2);
    expect(3, 0, 4);
    expect(4, 0, 16);
    expect(5, 0, 6);
    expect(6, 0, 2);
    expect(7, 0, 63);
}

TEST_F(IntervalsTest, WhatMayOverflowHasTheRangeOfItsType) {
    read(
        "    out[0] = n + 1\n"
        "    out[0] = e + 1\n"
        "    out[0] = e * e\n"
        "    out[0] = i64(p[0] + 1i32)\n"
        "    out[0] = i64(c[0])\n"
        "    out[0] = -n\n"
        "    out[0] = n // 0\n");
    expect(0, kMin, kMax);
    expect(1, 1, Intervals::kMaxExtent + 1);
    expect(2, kMin, kMax);
    expect(3, -2147483648LL, 2147483647LL);
    expect(4, 0, 255);
    expect(5, kMin, kMax);
    expect(6, kMin, kMax);
}

TEST_F(IntervalsTest, ConditionsNarrowWhatTheyGuard) {
    read(
        "    if n > 3 and n < 9:\n"
        "        out[0] = n\n"
        "    else:\n"
        "        out[0] = n\n"
        "    if not n - 2 >= 5:\n"
        "        out[0] = n\n"
        "    out[0] = n if 0 <= n else 7\n"
        "    if n > 0:\n"
        "        for i: i64 in range(4):\n"
        "            n = n - 1\n"
        "            out[0] = n\n");
    expect(0, 4, 8);
    expect(1, kMin, kMax);
    expect(2, kMin, kMax);  // n - 2 may wrap
    expect(3, 0, kMax);
    expect(4, kMin, kMax);  // assigned in between
}

TEST_F(IntervalsTest, VariablesHoldWhatIsAssignedToThem) {
    read(
        "    s: i64 = 0\n"
        "    t: i64 = 5\n"
        "    for i: i64 in range(10):\n"
        "        s = i * 2\n"
        "        t += 1\n"
        "        out[0] = s\n"
        "        out[0] = t\n"
        "        out[0] = t % 8\n");
    expect(0, 0, 18);
    expect(1, kMin, kMax);  // grows, as far as the analysis knows, without end
    expect(2, 0, 7);
}

TEST_F(IntervalsTest, UnsignedSixtyFourBitsAreNotGuessed) {
    read(
        "    u: u64 = u64(n)\n"
        "    u -= 1u64\n"
        "    out[0] = i64(u)\n");
    expect(0, kMin, kMax);
}

}  // namespace
}  // namespace parpy
