// parpy_chunks and parpy_parallel_for: every iteration runs once, whichever thread makes the call.
#include "runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "support/abi.h"

namespace parpy {
namespace {

using Counts = std::vector<std::atomic<int>>;

// Counts each iteration of 0 … n - 1 in `chunks` chunks.
bool covers(std::int64_t n, std::int64_t chunks, std::int64_t max_workers = 0) {
    Counts counts(static_cast<std::size_t>(n));
    parpy_parallel_for(
        nullptr, n, chunks, max_workers,
        [](void* frame, std::int64_t begin, std::int64_t end, std::int64_t) {
            auto& c = *static_cast<Counts*>(frame);
            for (std::int64_t i = begin; i < end; ++i)
                ++c[static_cast<std::size_t>(i)];
        },
        &counts);
    for (const auto& count : counts) {
        if (count != 1) return false;
    }
    return true;
}

TEST(ThreadPool, ChunksAreThoseOfTheEnvironment) {
    GTEST_FLAG_SET(death_test_style,
                   "threadsafe");  // a process of its own, which has not looked yet
    EXPECT_EXIT(
        {
            ::setenv("PARPY_CHUNKS", "7", 1);
            const bool right = parpy_chunks(nullptr, 100, 1e-3, 0) == 7 &&
                               parpy_chunks(nullptr, 3, 1e9, 1) == 3 &&
                               parpy_chunks(nullptr, 0, 1.0, 0) == 0;
            ::_exit(right ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(ThreadPool, LoopsOfOneWorkerAreWhole) {
    constexpr double kCost = 1e6;
    const std::int64_t before = parpy_chunks(nullptr, 1000, kCost, 0);
    {
        const OneWorker outer;
        EXPECT_EQ(parpy_chunks(nullptr, 1000, kCost, 0), 1);
        {
            const OneWorker inner;
        }
        EXPECT_EQ(parpy_chunks(nullptr, 1000, kCost, 0), 1);
        std::int64_t elsewhere = 0;
        std::thread([&] { elsewhere = parpy_chunks(nullptr, 1000, kCost, 0); }).join();
        EXPECT_EQ(elsewhere, before);
    }
    EXPECT_EQ(parpy_chunks(nullptr, 1000, kCost, 0), before);
}

TEST(ThreadPool, EveryIterationRunsOnce) {
    for (const std::int64_t n : {0, 1, 2, 7, 64, 1000}) {
        for (const std::int64_t chunks : {1, 2, 3, 8, 1000, 5000}) {
            EXPECT_TRUE(covers(n, chunks)) << n << " in " << chunks;
            EXPECT_TRUE(covers(n, chunks, 1)) << n << " in " << chunks;
            EXPECT_TRUE(covers(n, chunks, 3)) << n << " in " << chunks;
        }
    }
}

TEST(ThreadPool, ChunksAreConsecutiveRangesInOrder) {
    struct Range {
        std::int64_t begin, end;
    };
    std::vector<Range> ranges(7);
    parpy_parallel_for(
        nullptr, 100, 7, 0,
        [](void* frame, std::int64_t begin, std::int64_t end, std::int64_t chunk) {
            (*static_cast<std::vector<Range>*>(frame))[static_cast<std::size_t>(chunk)] = {begin,
                                                                                           end};
        },
        &ranges);
    std::int64_t at = 0;
    for (const Range& range : ranges) {
        EXPECT_EQ(range.begin, at);
        EXPECT_GT(range.end, range.begin);
        at = range.end;
    }
    EXPECT_EQ(at, 100);
}

TEST(ThreadPool, LittleWorkStaysSerial) {
    EXPECT_EQ(parpy_chunks(nullptr, 1000, 1.0, 0), 1);
    EXPECT_EQ(parpy_chunks(nullptr, 0, 1e9, 0), 0);
    EXPECT_EQ(parpy_chunks(nullptr, 1, 1e9, 0), 1);
    EXPECT_LE(parpy_chunks(nullptr, 1'000'000'000, 1e3, 0), kParpyMaxChunks);
    EXPECT_EQ(parpy_chunks(nullptr, 1'000'000, 100.0, 1), 1);
    EXPECT_EQ(parpy_chunks(nullptr, 1'000'000, std::numeric_limits<double>::quiet_NaN(), 0), 1);
}

TEST(ThreadPool, MuchWorkIsSplitTheSameWayEachTime) {
    const std::int64_t chunks = parpy_chunks(nullptr, 1'000'000, 100.0, 0);
    EXPECT_EQ(chunks, parpy_chunks(nullptr, 1'000'000, 100.0, 0));
    if (worker_count() > 1) {
        EXPECT_GE(chunks, worker_count());
        EXPECT_GT(parpy_chunks(nullptr, 2, 1e6, 0), 1);
        EXPECT_LE(parpy_chunks(nullptr, 3, 1e6, 0), 3);
    }
}

TEST(ThreadPool, NestedLoopsRun) {
    std::atomic<int> total{0};
    parpy_parallel_for(
        nullptr, 20, 20, 0,
        [](void* frame, std::int64_t, std::int64_t, std::int64_t) {
            parpy_parallel_for(
                nullptr, 50, 10, 2,
                [](void* inner, std::int64_t begin, std::int64_t end, std::int64_t) {
                    *static_cast<std::atomic<int>*>(inner) += static_cast<int>(end - begin);
                },
                frame);
        },
        &total);
    EXPECT_EQ(total, 1000);
}

TEST(ThreadPool, BoundedLoopsUseNoMoreThreads) {
    struct Frame {
        std::mutex mutex;
        std::set<std::thread::id> threads;
    } frame;
    parpy_parallel_for(
        nullptr, 200, 200, 1,
        [](void* f, std::int64_t, std::int64_t, std::int64_t) {
            auto* mine = static_cast<Frame*>(f);
            const std::lock_guard lock(mine->mutex);
            mine->threads.insert(std::this_thread::get_id());
        },
        &frame);
    EXPECT_EQ(frame.threads.size(), 1u);
}

TEST(ThreadPool, SeveralThreadsCall) {
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&good] {
            for (int i = 0; i < 50; ++i)
                good += covers(500, 8, i % 3) ? 1 : 0;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(good, 200);
}

TEST(ThreadPool, WorksInAForkedChild) {
    warm_workers();
    ASSERT_TRUE(covers(1000, 16));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(900);
        bool good = true;
        for (int i = 0; i < 20; ++i)
            good = good && covers(1000, 16, i % 3);
        ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(covers(1000, 16));
}

}  // namespace
}  // namespace parpy
