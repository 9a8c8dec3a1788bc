// The simulator: CUDA text on the CPU, with barriers, warps, shared memory, atomics, and its
// errors.
#include <gtest/gtest.h>

#include <csignal>
#include <new>
#include <vector>

#include "runtime/executable.h"
#include "runtime/interruption.h"
#include "runtime/sim/sim_executable.h"
#include "runtime/sim/simulated_block.h"

namespace parpy {
namespace {

class Simulator : public testing::Test {
protected:
    ~Simulator() override { set_simulator({}); }

    // Runs `void k(int* data)` of `device`.
    RuntimeError launch(const std::string& device, std::vector<int>& data, unsigned blocks,
                        unsigned threads, unsigned shared_bytes = 0, unsigned rows = 1) {
        Program program;
        program.name = "program";
        program.device = device;
        program.kernels = {"k"};
        program.host =
            "struct ParpyContext;"
            "extern \"C\" int parpy_launch(ParpyContext*, int, unsigned, unsigned, unsigned,"
            "unsigned, unsigned, unsigned, unsigned, void**);"
            "extern \"C\" int program_slots(ParpyContext* c, const unsigned long* s) {"
            "  void* data = (void*)s[0]; void* arguments[] = {&data};"
            "  return parpy_launch(c, 0, s[1], 1, 1, s[2], s[3], 1, s[4], arguments); }";
        Options options;
        options.backend = Backend::kSim;
        RuntimeError error;
        const auto executable = load(program, options, error);
        if (!executable) return error;
        const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(data.data()), blocks,
                                       threads, rows, shared_bytes};
        return executable->run(slots, nullptr, nullptr);
    }

    // Threads run in order, and in two random orders.
    void expect(const std::string& device, unsigned blocks, unsigned threads,
                const std::vector<int>& wanted, unsigned shared_bytes = 0) {
        for (const std::uint64_t seed : {0U, 1U, 2U}) {
            set_simulator({32, seed});
            std::vector<int> data(wanted.size(), 0);
            const RuntimeError error = launch(device, data, blocks, threads, shared_bytes);
            EXPECT_FALSE(error.failed()) << error.message;
            EXPECT_EQ(data, wanted) << "seed " << seed;
        }
    }

    RuntimeError fail(const std::string& device, unsigned blocks, unsigned threads,
                      unsigned shared_bytes = 0) {
        std::vector<int> data(4096, 0);
        return launch(device, data, blocks, threads, shared_bytes);
    }
};

std::vector<int> counted(int count, auto value) {
    std::vector<int> out(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        out[static_cast<std::size_t>(i)] = value(i);
    return out;
}

#define KERNEL "extern \"C\" __global__ void k(int* data) {\n"
#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"

TEST_F(Simulator, ThreadsWithoutBarriers) {
    expect(KERNEL INDEX "data[i] = 3 * i; }", 7, 96, counted(7 * 96, [](int i) { return 3 * i; }));
}

TEST_F(Simulator, SharedMemoryAndBarriers) {
    expect(KERNEL INDEX
           "__shared__ int s[64]; s[threadIdx.x] = i; __syncthreads();"
           "data[i] = s[63 - threadIdx.x]; }",
           5, 64, counted(5 * 64, [](int i) { return i / 64 * 64 + 63 - i % 64; }));
}

TEST_F(Simulator, AMissingBarrierShows) {
    set_simulator({32, 1});
    std::vector<int> data(64, 0);
    const RuntimeError error = launch(KERNEL INDEX
                                      "__shared__ int s[64]; s[threadIdx.x] = i;"
                                      "data[i] = s[63 - threadIdx.x]; }",
                                      data, 1, 64);
    EXPECT_FALSE(error.failed()) << error.message;
    EXPECT_NE(data, counted(64, [](int i) { return 63 - i; }));
}

TEST_F(Simulator, DynamicSharedMemory) {
    expect(KERNEL INDEX
           "extern __shared__ int s[]; __shared__ int fixed[3]; fixed[threadIdx.x % 3] = 7;"
           "s[threadIdx.x] = i; __syncthreads();"
           "data[i] = s[(threadIdx.x + 1) % 64] + fixed[0]; }",
           2, 64, counted(128, [](int i) { return i / 64 * 64 + (i + 1) % 64 + 7; }), 64 * 4);
}

TEST_F(Simulator, HelpersReadTheirThread) {
    expect(
        "static __device__ int fib(int n) { return n < 2 ? (int)(threadIdx.x < 100) * n"
        " : fib(n - 1) + fib(n - 2); }\n"
        "static __device__ __forceinline__ int twice(int n) { return 2 * n + threadIdx.x; "
        "}\n" KERNEL INDEX "data[i] = fib(10) + twice(1); }",
        2, 32, counted(64, [](int i) { return 55 + 2 + i % 32; }));
}

TEST_F(Simulator, BarriersInHelpersThatAreNotInlined) {
    expect(
        "static __device__ int walk(int* s, int n) { if (n == 0) return 0;"
        " s[threadIdx.x] = n; __syncthreads(); int v = s[(threadIdx.x + 1) % blockDim.x];"
        " __syncthreads(); return v + walk(s, n - 1); }\n" KERNEL INDEX
        "__shared__ int s[64]; data[i] = walk(s, 4); }",
        3, 64, counted(192, [](int) { return 10; }));
}

TEST_F(Simulator, BarriersThatCount) {
    expect(KERNEL INDEX
           "data[i] = __syncthreads_count(threadIdx.x < 10) + 100 * __syncthreads_and(1)"
           " + 1000 * __syncthreads_or(threadIdx.x == 5) + 10000 * __syncthreads_and(i != 3); }",
           1, 40, counted(40, [](int) { return 1110; }));
}

TEST_F(Simulator, Shuffles) {
    expect(KERNEL INDEX
           "int v = i; for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);"
           "int down = __shfl_down_sync(0xffffffffu, i, 3), up = __shfl_up_sync(0xffffffffu, i, 3);"
           "double at = __shfl_sync(0xffffffffu, (double)i, 5, 8);"
           "data[i] = v + down + up + (int)at; }",
           2, 64, counted(128, [](int i) {
               const int first = i / 32 * 32, lane = i % 32;
               return 32 * first + 496 + (lane + 3 > 31 ? i : i + 3) + (lane < 3 ? i : i - 3) +
                      i / 8 * 8 + 5;
           }));
}

TEST_F(Simulator, VotesOfPartOfAWarp) {
    expect(KERNEL INDEX
           "if (threadIdx.x < 16) { data[i] = (int)__ballot_sync(0xffffu, i % 2); }"
           "else { data[i] = __any_sync(0xffff0000u, i == 20) + 2 * __all_sync(0xffff0000u, i > 3)"
           " + (int)(__match_any_sync(0xffff0000u, i / 8) >> 16); } }",
           1, 32,
           counted(32, [](int i) { return i < 16 ? 0xaaaa : 3 + (i < 24 ? 0xff : 0xff00); }));
}

TEST_F(Simulator, Atomics) {
    expect(KERNEL INDEX
           "atomicAdd(&data[0], 2); atomicMax(&data[1], i); atomicOr(&data[2], 1 << (i % 8));"
           "atomicInc((unsigned*)&data[3], 9); atomicAdd((float*)&data[4], 0.0f);"
           "int seen = atomicCAS(&data[5], 0, 7); if (seen != 0 && seen != 7) data[6] = 1; }",
           10, 50, {1000, 499, 255, 0, 0, 7, 0});
}

TEST_F(Simulator, ThreadsMayWaitForOthersOfTheGrid) {
    expect("static __device__ int turn;\n" KERNEL INDEX
           "while (atomicAdd(&turn, 0) != 127 - i) { }\n data[127 - i] = i; atomicAdd(&turn, 1);"
           "if (i == 0) turn = 0; }",
           4, 32, counted(128, [](int i) { return 127 - i; }));
}

TEST_F(Simulator, LeavingIsLikeArriving) {
    expect(KERNEL INDEX "if (threadIdx.x >= 10) return; __syncthreads(); data[i] = 1; }", 1, 64,
           counted(64, [](int i) { return i < 10 ? 1 : 0; }));
}

TEST_F(Simulator, TheWarpSizeIsASetting) {
    set_simulator({8, 0});
    std::vector<int> data(64, 0);
    const std::string device = KERNEL INDEX "data[i] = __shfl_sync(0xffu, i, 0, 8); }";
    EXPECT_FALSE(launch(device, data, 1, 64).failed());
}

TEST_F(Simulator, ThreadsAtDifferentBarriersAreAnError) {
    const RuntimeError error =
        fail("// f.py:1: def k(data):\n" KERNEL
             "    // f.py:2: if cuda.threadIdx.x < 8:\n    if (threadIdx.x < 8) {\n"
             "        // f.py:3: cuda.syncthreads()\n        __syncthreads();\n    } else {\n"
             "        // f.py:5: cuda.syncthreads()\n        __syncthreads();\n    }\n}",
             2, 16);
    EXPECT_EQ(error.code, Code::kP540);
    EXPECT_NE(error.message.find("thread (0, 0, 0) at f.py:3 (cuda.syncthreads())"),
              std::string::npos)
        << error.message;
    EXPECT_NE(error.message.find("thread (8, 0, 0) at f.py:5"), std::string::npos) << error.message;
}

TEST_F(Simulator, AShuffleThatWaitsForABarrierIsAnError) {
    EXPECT_EQ(fail(KERNEL "if (threadIdx.x < 8) data[0] = __shfl_sync(0xffffffffu, 1, 9);\n"
                          "else __syncthreads(); }",
                   1, 32)
                  .code,
              Code::kP540);
}

TEST_F(Simulator, BlocksOfAClusterRunTogether) {
    const std::string head = "extern \"C\" __global__ void __cluster_dims__(2, 1) k(int* data) {\n";
    const std::string sync = "__cluster_barrier_arrive(); __cluster_barrier_wait();";
    const std::string rank = "const unsigned rank = __clusterRelativeBlockRank();";
    const std::string exchange = "__shared__ int s[32]; s[threadIdx.x] = i;" + sync +
                                 "data[i] = *(int*)__cluster_map_shared_rank("
                                 "&s[31 - threadIdx.x], 1 - rank);";
    const auto wanted = [](int i) { return (i / 32 ^ 1) * 32 + 31 - i % 32; };
    expect(head + INDEX + rank + exchange + sync + "}", 6, 32, counted(192, wanted));
    // Blocks that meet several times, and also wait for blocks of other clusters.
    expect(head + INDEX + rank + "for (int t = 0; t < 3; ++t) {" + exchange + sync + "}" +
               "if (threadIdx.x == 0) { atomicAdd(&data[192], 1);"
               " while (atomicAdd(&data[192], 0) < 6) {} }" +
               sync + "}",
           6, 32, counted(193, [&](int i) { return i < 192 ? wanted(i) : 6; }));
    // Barriers do not wait for blocks that have left.
    expect(head + INDEX + rank + "if (rank == 1) return;" + sync + "data[i] = 1; }", 4, 32,
           counted(128, [](int i) { return i / 32 % 2 == 0 ? 1 : 0; }));
}

TEST_F(Simulator, ClustersThatCannotBeAreErrors) {
    const std::string head =
        "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) k(int* data) {\n";
    const auto says = [&](const std::string& body, Code code, const char* text) {
        const RuntimeError error =
            fail(head + "__shared__ int s[32]; s[threadIdx.x] = 1;" + body + "}", 4, 32);
        EXPECT_EQ(error.code, code);
        EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
    };
    const std::string wait = "__cluster_barrier_wait();";
    EXPECT_EQ(fail(head + "}", 3, 32).code, Code::kP531);
    EXPECT_EQ(
        fail("extern \"C\" __global__ void __cluster_dims__(32) k(int* data) {}", 32, 32).code,
        Code::kP531);
    says(wait + "data[0] = *(int*)__cluster_map_shared_rank(s, 2);", Code::kP541, "which has 2");
    says(wait + "data[0] = *(int*)__cluster_map_shared_rank(data, 1);", Code::kP541,
         "outside of shared memory");
    says("if (blockIdx.x % 2 == 1) return;" + wait +
             "data[0] = *(int*)__cluster_map_shared_rank(s, 1);",
         Code::kP541, "have all left");
    says("if (threadIdx.x == 0) { " + wait + " } else { __syncthreads(); } data[0] = s[3];",
         Code::kP540, "wait for each other");
}

TEST_F(Simulator, WaitingForNothingIsAnError) {
    EXPECT_EQ(fail(KERNEL "while (atomicAdd(&data[0], 0) == 0) {} }", 2, 32).code, Code::kP540);
}

TEST_F(Simulator, RecursionWithoutEndIsAnError) {
    const RuntimeError error = fail(
        "static __device__ int down(int n) { return n == -1 ? 0 : 1 + down(n + (n & 1) + 1) * n; "
        "}\n" KERNEL "data[threadIdx.x] = down(threadIdx.x); }",
        1, 32);
    EXPECT_EQ(error.code, Code::kP541);
    EXPECT_NE(error.message.find("stack"), std::string::npos) << error.message;
}

TEST_F(Simulator, StrayAccessesAreAnError) {
    EXPECT_EQ(fail(KERNEL "data[threadIdx.x * 100000000000ll] = 1; }", 1, 32).code, Code::kP541);
    EXPECT_EQ(fail(KERNEL "__syncthreads(); *(int*)16 = 1; }", 1, 32).code, Code::kP541);
}

TEST_F(Simulator, AssertionsAndTrapsAreErrors) {
    const RuntimeError error = fail(KERNEL "assert(threadIdx.x < 31); }", 1, 32);
    EXPECT_EQ(error.code, Code::kP541);
    EXPECT_NE(error.message.find("threadIdx.x < 31"), std::string::npos) << error.message;
}

TEST_F(Simulator, LaunchesBeyondTheLimitsAreRefused) {
    EXPECT_EQ(fail(KERNEL "}", 1, 2000).code, Code::kP531);
    EXPECT_EQ(fail(KERNEL "}", 1, 32, 300000).code, Code::kP531);
    EXPECT_EQ(
        fail(KERNEL "__shared__ int s[70000]; s[threadIdx.x] = 1; data[0] = s[3]; }", 1, 32).code,
        Code::kP531);
}

TEST_F(Simulator, MemoryThatIsNotThereIsAnError) {
    Program program;
    program.name = "program";
    program.host =
        "struct ParpyContext; extern \"C\" void* parpy_scratch(ParpyContext*, long);"
        "extern \"C\" int program_slots(ParpyContext* c, const unsigned long*) {"
        "  return parpy_scratch(c, 1L << 60) == nullptr; }";
    Options options;
    options.backend = Backend::kSim;
    RuntimeError error;
    const auto executable = load(program, options, error);
    ASSERT_TRUE(executable) << error.message;
    EXPECT_EQ(executable->run(nullptr, nullptr, nullptr).code, Code::kP542);
}

TEST_F(Simulator, TextThatDoesNotCompileIsLocated) {
    const RuntimeError error = fail("\n" KERNEL "this is no C++; }", 1, 32);
    EXPECT_EQ(error.code, Code::kP510);
    EXPECT_NE(error.message.find("program.cu:3:"), std::string::npos) << error.message;
}

// Runs in a process of its own, which keeps the handler.
TEST_F(Simulator, ExceptionsOfLaunchesThatRunAside) {
    const auto throws = [] {
        std::signal(SIGINT, [](int) {});
        sim::set_interrupt_hooks({[] { return true; }, [] { return false; }});
        const sim::Launch launch{};
        sim::Grid grid(launch);
        sim::Interruptible interruptible(grid);
        for (int i = 0; i < 2; ++i) {
            bool caught = false;
            try {
                interruptible.run([] { throw std::bad_alloc(); });
            } catch (const std::bad_alloc&) {
                caught = true;
            }
            if (!caught) std::_Exit(1);
        }
        int runs = 0;
        interruptible.run([&] { ++runs; });
        std::_Exit(runs == 1 ? 7 : 2);
    };
    EXPECT_EXIT(throws(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace parpy
