// Programs of the CUDA run time on a fake driver (fake_cuda/): launches, captures and reports,
// without a GPU. tests/python/gpu/test_gpu.py runs the real driver.
#include <gtest/gtest.h>

#include "cuda_fixture.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/memory/device_memory.h"

namespace parpy::cuda {
namespace {

constexpr const char* kHost = R"(
struct ParpyContext;
extern "C" int parpy_launch(ParpyContext*, int, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, unsigned, void**);
extern "C" void* parpy_scratch(ParpyContext*, long);
extern "C" int scale(ParpyContext* context, double* x, long n, long scratch, long shared) {
    for (long i = 0; i < scratch; ++i)
        if (parpy_scratch(context, 1000) == nullptr) return 1;
    void* arguments[] = {&x, &n};
    return parpy_launch(context, 0, (unsigned)((n + 31) / 32), 1, 1, 32, 1, 1, (unsigned)shared,
                        arguments);
}
extern "C" int scale_slots(ParpyContext* context, const unsigned long* slots) {
    return scale(context, (double*)slots[0], (long)slots[1], (long)slots[2], (long)slots[3]);
}
)";

constexpr const char* kSteps = R"(
struct ParpyContext;
extern "C" int parpy_launch_overlapped(ParpyContext*, int, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, unsigned, void**);
extern "C" int scale_slots(ParpyContext* context, const unsigned long* slots) {
    void* arguments[] = {(void*)&slots[0], (void*)&slots[1]};
    for (unsigned long i = 0; i < slots[2]; ++i)
        if (parpy_launch_overlapped(context, 0, 1, 1, 1, 32, 1, 1, 0, arguments)) return 1;
    return 0;
}
)";

class CudaProgram : public CudaMemory {
protected:
    void SetUp() override {
        CudaMemory::SetUp();
        program_.name = "scale";
        program_.device = "extern \"C\" __global__ void scale_N(double* x, long n) {}";
        program_.host = kHost;
        program_.kernels = {"scale_N"};
        program_.slots = {{Slot::Kind::kPointer},
                          {Slot::Kind::kScalar},
                          {Slot::Kind::kScalar},
                          {Slot::Kind::kScalar}};
        options_.backend = Backend::kCuda;
        fake().on_launch = [](const FakeLaunch& launch) {
            auto* x = *static_cast<double**>(launch.arguments[0]);
            const long n = *static_cast<long*>(launch.arguments[1]);
            for (long i = 0; i < n; ++i)
                x[i] *= 2;
        };
    }
    RuntimeError run(std::uint64_t pointer, std::uint64_t n, std::uint64_t scratch = 0,
                     std::uint64_t shared = 0, void* stream = nullptr) {
        RuntimeError error;
        const auto executable = load(program_, options_, error);
        if (executable == nullptr) return error;
        const std::uint64_t slots[] = {pointer, n, scratch, shared};
        return executable->run(slots, stream, nullptr);
    }
    Program program_;
    Options options_;
};

TEST_F(CudaProgram, RunsOnTheStreamOfTheCall) {
    std::vector<double> x(100, 1.5);
    HostCopies copies(device(0), nullptr);
    copies.add(x.data(), 800, true);
    ASSERT_FALSE(copies.copy_in().failed());
    int stream = 0;
    const RuntimeError error = run(copies.pointer(x.data()), 100, 0, 0, &stream);
    EXPECT_FALSE(error.failed()) << error.message;
    ASSERT_FALSE(copies.copy_out().failed());
    EXPECT_EQ(x, std::vector<double>(100, 3.0));
    EXPECT_EQ(fake().launches, 1);
    EXPECT_EQ(fake().last_launch.grid[0], 4U);
    EXPECT_EQ(fake().last_launch.block[0], 32U);
    EXPECT_EQ(fake().last_launch.stream, &stream);
    EXPECT_EQ(fake().modules, 0) << "unloaded with the program";
}

TEST_F(CudaProgram, GraphsAreCapturedOnceAndReplayed) {
    options_.use_cuda_graphs = true;
    RuntimeError error;
    const auto executable = load(program_, options_, error);
    ASSERT_NE(executable, nullptr) << error.message;
    std::uint64_t slots[] = {0, 100, 8, 0};
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed());
    EXPECT_EQ(fake().captures, 1);
    EXPECT_EQ(fake().captured_launches, 1);
    EXPECT_EQ(fake().graph_launches, 3);
    EXPECT_EQ(fake().launches, 0);
    slots[1] = 50;
    EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed());
    slots[1] = 100;
    EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed());
    EXPECT_EQ(fake().captures, 2) << "both are kept";
    EXPECT_EQ(fake().graph_launches, 5);
    fail("cuGraphInstantiateWithFlags", kInvalidValue);
    slots[1] = 10;
    EXPECT_TRUE(contains(executable->run(slots, nullptr, nullptr).message, "making a CUDA graph"));
}

TEST_F(CudaProgram, ManyLaunchesThatRepeatAreCaptured) {
    fake().on_launch = nullptr;
    program_.host = kSteps;
    RuntimeError error;
    const auto executable = load(program_, options_, error);
    ASSERT_NE(executable, nullptr) << error.message;
    std::uint64_t slots[] = {0, 100, 40, 0};
    const auto call = [&] { EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed()); };
    call();
    call();
    EXPECT_EQ(fake().captures, 0);
    EXPECT_EQ(fake().launches, 80);
    call();
    call();
    EXPECT_EQ(fake().captures, 1);
    EXPECT_EQ(fake().captured_launches, 40);
    EXPECT_EQ(fake().graph_launches, 2);
    EXPECT_EQ(fake().launches, 80);
    slots[1] = 50;  // other arguments: launched until they repeat
    call();
    EXPECT_EQ(fake().launches, 120);
    call();
    EXPECT_EQ(fake().captures, 2);
    EXPECT_EQ(fake().graph_launches, 3);
    slots[1] = 100;
    fake().capturing = true;  // the caller captures: the launches belong to its graph
    call();
    fake().capturing = false;
    EXPECT_EQ(fake().graph_launches, 3);
    EXPECT_EQ(fake().launches, 160);
}

TEST_F(CudaProgram, FewLaunchesAreNotCaptured) {
    fake().on_launch = nullptr;
    program_.host = kSteps;
    RuntimeError error;
    const auto executable = load(program_, options_, error);
    ASSERT_NE(executable, nullptr) << error.message;
    const std::uint64_t slots[] = {0, 100, 31, 0};
    for (int i = 0; i < 4; ++i)
        EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed());
    EXPECT_EQ(fake().captures, 0);
    EXPECT_EQ(fake().launches, 124);
}

TEST_F(CudaProgram, LaunchesThatCannotBeCapturedAreMade) {
    fake().on_launch = nullptr;
    program_.host = kSteps;
    RuntimeError error;
    const auto executable = load(program_, options_, error);
    ASSERT_NE(executable, nullptr) << error.message;
    const std::uint64_t slots[] = {0, 100, 40, 0};
    fail("cuGraphInstantiateWithFlags", kInvalidValue);
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(executable->run(slots, nullptr, nullptr).failed());
    EXPECT_EQ(fake().captures, 1) << "tried once";
    EXPECT_EQ(fake().launches, 200);
    EXPECT_EQ(fake().graph_launches, 0);
}

TEST_F(CudaProgram, EmptyGridsAreSkipped) {
    EXPECT_FALSE(run(0, 0).failed());
    EXPECT_EQ(fake().launches, 0);
}

TEST_F(CudaProgram, ScratchIsClearedAndFreed) {
    fake().on_launch = nullptr;
    EXPECT_FALSE(run(0, 1, 11).failed());
    EXPECT_EQ(fake().allocations, 11);
    EXPECT_EQ(fake().releases, 11);
    fail("cuMemAllocFromPoolAsync", kOutOfMemory, 2, 5);
    EXPECT_EQ(run(0, 1, 11).code, Code::kP528);
    EXPECT_EQ(fake().allocations, fake().releases);
    EXPECT_EQ(fake().launches, 1);
}

TEST_F(CudaProgram, LargeSharedMemoryIsAllowedOnce) {
    fake().on_launch = nullptr;
    EXPECT_FALSE(run(0, 1, 0, 48 * 1024).failed());
    EXPECT_EQ(fake().dynamic_shared, 0);
    EXPECT_FALSE(run(0, 1, 0, 100'000).failed());
    EXPECT_EQ(fake().dynamic_shared, 100'000);
}

TEST_F(CudaProgram, StaticSharedMemoryCountsAsWell) {
    fake().on_launch = nullptr;
    fake().static_shared = 20'000;
    EXPECT_FALSE(run(0, 1, 0, 28'000).failed());
    EXPECT_EQ(fake().dynamic_shared, 0);
    EXPECT_FALSE(run(0, 1, 0, 32'000).failed());
    EXPECT_EQ(fake().dynamic_shared, 32'000);
    fake().static_shared = 0;
}

TEST_F(CudaProgram, KernelsThatWaitMayStartEarly) {
    fake().on_launch = nullptr;
    EXPECT_FALSE(run(0, 100).failed());
    EXPECT_EQ(fake().overlapped_launches, 0);
    for (std::size_t at = 0; (at = program_.host.find("parpy_launch(", at)) != std::string::npos;)
        program_.host.replace(at, 13, "parpy_launch_overlapped(");
    EXPECT_FALSE(run(0, 100).failed());
    EXPECT_EQ(fake().overlapped_launches, 1);
    EXPECT_EQ(fake().last_launch.grid[0], 4U);
    EXPECT_EQ(fake().last_launch.block[0], 32U);
    fail("cuLaunchKernelEx", kInvalidValue);
    EXPECT_EQ(run(0, 100).code, Code::kP531);
}

TEST_F(CudaProgram, HostCodeFetchesWhatKernelsComputed) {
    const std::string launch = "return parpy_launch";
    program_.host.replace(program_.host.find(launch), launch.size(),
                          "double first = 0;\n"
                          "if (parpy_fetch(context, 0, &first, x, sizeof first)) return 1;\n"
                          "n = (long)first;\n" +
                              launch);
    program_.host.insert(program_.host.find("extern \"C\" int scale"),
                         "extern \"C\" int parpy_fetch(ParpyContext*, long, void*, const void*, "
                         "long);\n");
    program_.sites = {{Code::kP532, {}, "host code reads 'first'", {}, false, "let the GPU"}};
    fake().on_launch = nullptr;
    const DevicePointer x = allocate(device(0), 800, nullptr, error_);
    const double value = 100;
    EXPECT_FALSE(copy_to_device(device(0), x, &value, sizeof value, nullptr).failed());
    const int waited = fake().synchronizations;
    EXPECT_FALSE(run(x, 1).failed());
    EXPECT_EQ(fake().last_launch.grid[0], 4U);
    EXPECT_EQ(fake().synchronizations, waited + 1);

    fake().capturing = true;
    const RuntimeError error = run(x, 1);
    fake().capturing = false;
    EXPECT_EQ(error.code, Code::kP532);
    EXPECT_EQ(error.message, "host code reads 'first'");
    EXPECT_NE(error.located, nullptr);
    fail("cuStreamSynchronize", 700);
    EXPECT_EQ(run(x, 1).code, Code::kP530);
    release(device(0), x, nullptr);
}

TEST(CudaDevice, ClustersCameWithArchitecture90) {
    for (const char* with : {"sm_90", "sm_90a", "sm_100", "sm_120f"})
        EXPECT_TRUE(has_clusters(with)) << with;
    for (const char* without : {"sm_75", "sm_89", "sm", ""})
        EXPECT_FALSE(has_clusters(without)) << without;
}

TEST_F(CudaProgram, LaunchErrorsNameKernelAndGeometry) {
    fail("cuLaunchKernel", kInvalidValue);
    RuntimeError error = run(0, 100);
    EXPECT_EQ(error.code, Code::kP531);
    EXPECT_TRUE(contains(error.message,
                         "launching kernel 'scale_N' on 4 x 1 x 1 blocks of 32 x 1 x 1 threads"))
        << error.message;
    fail("cuLaunchKernel", 701);
    error = run(0, 100);
    EXPECT_TRUE(contains(error.help, ".tpb(256)"));
    fail("cuLaunchKernel", 912);
    error = run(0, 100);
    EXPECT_TRUE(contains(error.help, "max_thread_blocks_per_cluster")) << error.help;
    fail("cuLaunchKernel", 700);
    error = run(0, 100);
    EXPECT_EQ(error.code, Code::kP530);
}

TEST_F(CudaProgram, MachineCodeThatTheDriverRefuses) {
    fail("cuModuleLoadData", 209);
    const RuntimeError error = run(0, 1);
    EXPECT_EQ(error.code, Code::kP526);
    EXPECT_TRUE(contains(error.help, "the driver runs CUDA 13.0")) << error.help;
}

TEST_F(CudaProgram, AMissingKernelIsNamed) {
    fail("cuModuleGetFunction", 500);
    const RuntimeError error = run(0, 1);
    EXPECT_EQ(error.code, Code::kP527);
    EXPECT_TRUE(contains(error.message, "'scale_N'"));
    EXPECT_EQ(fake().modules, 0);
}

TEST_F(CudaProgram, ProgramsWithoutParallelCodeNeedNoModule) {
    program_.kernels.clear();
    program_.device.clear();
    EXPECT_FALSE(run(0, 0).failed());
    EXPECT_EQ(run(0, 1).code, Code::kP527) << "launches a kernel that is not there";
}

TEST_F(CudaProgram, RunsWhereItsArraysAre) {
    fake().on_launch = nullptr;
    DevicePointer there = 0;
    {
        const CurrentContext other(device(1), error_);
        there = allocate(device(1), 800, nullptr, error_);
    }
    EXPECT_FALSE(run(there, 100).failed());
    EXPECT_EQ(fake().last_launch.device, 1);
    EXPECT_EQ(current_device().index, 0) << "the caller's device is restored";

    program_.slots[3].kind = Slot::Kind::kPointer;
    const DevicePointer here = allocate(device(0), 800, nullptr, error_);
    const RuntimeError error = run(there, 1, 0, here);
    EXPECT_EQ(error.code, Code::kP533);
    EXPECT_TRUE(contains(error.message, "different GPUs: 1 and 0")) << error.message;
    release(device(0), here, nullptr);
    release(device(1), there, nullptr);
}

}  // namespace
}  // namespace parpy::cuda
