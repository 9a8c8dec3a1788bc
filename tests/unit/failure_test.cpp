// How a running program stops at a failed check, and the report that its caller gets.
#include "runtime/failure.h"

#include <gtest/gtest.h>

#include <atomic>

#include "ir/site.h"
#include "runtime/context.h"
#include "support/abi.h"

namespace parpy {
namespace {

TEST(Failure, LeavesTheRunAndKeepsTheValues) {
    Failure failure;
    bool came_back = false;
    run_until_failure(failure, [&] {
        const std::int64_t values[] = {7, -1};
        parpy_fail(3, values, 2);
        came_back = true;
    });
    EXPECT_TRUE(failure.raised());
    EXPECT_FALSE(came_back);
    EXPECT_EQ(failure.site(), 3U);
    EXPECT_EQ(failure.values().size(), 2U);
    EXPECT_EQ(failure.values()[1], -1);
}

TEST(Failure, RunsNest) {
    Failure outer;
    Failure inner;
    bool continued = false;
    run_until_failure(outer, [&] {
        run_until_failure(inner, [] { parpy_fail(1, nullptr, 0); });
        continued = true;
        parpy_fail(2, nullptr, 0);
    });
    EXPECT_TRUE(continued);
    EXPECT_EQ(inner.site(), 1U);
    EXPECT_EQ(outer.site(), 2U);
}

// Every chunk fails; whichever fails first, the caller leaves its run after all have stopped.
TEST(Failure, OfWorkersReachesTheCaller) {
    struct Frame {
        std::atomic<int> running{0};
    } frame;
    for (int round = 0; round < 50; ++round) {
        Failure failure;
        ParpyContext context;
        context.failure = &failure;
        bool came_back = false;
        run_until_failure(failure, [&] {
            parpy_parallel_for(
                &context, 1000, 16, 0,
                [](void* f, std::int64_t begin, std::int64_t, std::int64_t chunk) {
                    ++static_cast<Frame*>(f)->running;
                    --static_cast<Frame*>(f)->running;
                    parpy_fail(chunk, &begin, 1);
                },
                &frame);
            came_back = true;
        });
        EXPECT_TRUE(failure.raised());
        EXPECT_FALSE(came_back);
        EXPECT_EQ(frame.running, 0);
        EXPECT_LT(failure.site(), 16U);
        EXPECT_EQ(innermost_landing, nullptr);
    }
}

TEST(Failure, IsDescribedBySiteAndValues) {
    ir::Site first;
    first.code = Code::kP422;
    first.span = {0, 4, 1, 4, 2};
    first.message = "read of x";
    ir::Site second;
    second.code = Code::kP422;
    second.span = {0, 5, 1, 5, 2};
    second.message = "i={1} and {2} but {{1} {x} {9}";
    second.note = "in iteration j={2}";
    second.other = true;
    const ir::Site sites[] = {first, second};
    const std::int64_t values[] = {0, -5, 12};
    const Diagnostic found = ir::describe(sites, 1, values);
    EXPECT_EQ(found.message, "i=-5 and 12 but {1} {x} ?");
    EXPECT_EQ(found.span, second.span);
    ASSERT_EQ(found.notes.size(), 2U);
    EXPECT_EQ(found.notes[0].message, "in iteration j=12");
    EXPECT_EQ(found.notes[1].span, first.span);
    EXPECT_EQ(ir::describe(sites, 2, values).code, Code::kP900);
}

}  // namespace
}  // namespace parpy
