// Devices, memory and the compiler of the CUDA run time on a fake driver and a fake NVRTC
// (fake_cuda/), without a GPU. tests/python/gpu/test_gpu.py runs the real ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "cuda_fixture.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/device_stacks.h"
#include "runtime/cuda/memory/device_memory.h"
#include "runtime/cuda/memory/graph_memory.h"
#include "runtime/cuda/memory/used_streams.h"
#include "runtime/cuda/nvrtc.h"

namespace parpy::cuda {
namespace {

// ---- the driver
// -----------------------------------------------------------------------------------

TEST_F(CudaRuntime, MissingDriverSaysWhatToInstall) {
    const Driver driver = Driver::load("libno_such_driver.so.1");
    EXPECT_EQ(driver.unavailable.code, Code::kP520);
    EXPECT_TRUE(contains(driver.unavailable.message, "'libno_such_driver.so.1'"));
    EXPECT_TRUE(contains(driver.unavailable.help, "CompileBackend.Cpu"));
}

TEST_F(CudaRuntime, OldDriverIsNamed) {
    const Driver driver = Driver::load("libm.so.6");
    EXPECT_EQ(driver.unavailable.code, Code::kP522);
    EXPECT_TRUE(contains(driver.unavailable.message, "'cuInit'")) << driver.unavailable.message;
}

TEST_F(CudaRuntime, NoDevice) {
    fail("cuInit", 100);
    const Driver driver = Driver::load(PARPY_FAKE_CUDA);
    EXPECT_EQ(driver.unavailable.code, Code::kP521);
    EXPECT_TRUE(contains(driver.unavailable.help, "nvidia-smi"));
}

TEST_F(CudaRuntime, UseAfterForkIsExplained) {
    fail("cuInit", 3);
    const Driver driver = Driver::load(PARPY_FAKE_CUDA);
    EXPECT_EQ(driver.unavailable.code, Code::kP534);
    EXPECT_TRUE(contains(driver.unavailable.help, "'spawn'"));
}

TEST_F(CudaRuntime, FaultNamesTheLastKernelAndTheRemedy) {
    note_launch("axpy");
    const RuntimeError error = Driver::instance().failure(700, "waiting for the GPU");
    EXPECT_EQ(error.code, Code::kP530);
    EXPECT_TRUE(contains(error.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    EXPECT_TRUE(contains(error.message, "'axpy'"));
    EXPECT_TRUE(contains(error.help, "start a new process"));
    EXPECT_TRUE(is_fault(719));
    EXPECT_FALSE(is_fault(kInvalidValue));
}

TEST_F(CudaRuntime, OtherFailuresKeepTheirCode) {
    const RuntimeError error = Driver::instance().failure(999, "doing something");
    EXPECT_EQ(error.code, Code::kP529);
    EXPECT_EQ(error.message, "doing something failed: CUDA_ERROR_999 (made up)");
}

// ---- devices
// --------------------------------------------------------------------------------------

TEST_F(CudaRuntime, DevicesAreDescribed) {
    ASSERT_EQ(device_count(), 2);
    EXPECT_FALSE(unavailable().failed());
    EXPECT_EQ(device(1).index, 1);
    EXPECT_EQ(device(1).name, "Fake GPU");
    EXPECT_EQ(device(1).architecture, "sm_90");
    EXPECT_EQ(device(0).multiprocessors, 132);
    EXPECT_TRUE(device(0).has_pools);
    EXPECT_EQ(current_architecture(), "sm_90");
}

TEST_F(CudaRuntime, AThreadWithoutContextKeepsTheFirst) {
    std::thread([] {
        RuntimeError error;
        for (int i = 0; i < 3; ++i)
            const CurrentContext current(device(1), error);
        EXPECT_FALSE(error.failed());
        EXPECT_EQ(fake().context_changes, 1);
        EXPECT_EQ(current_device().index, 1);
    }).join();
}

TEST_F(CudaRuntime, AnotherContextIsRestored) {
    std::thread([] {
        RuntimeError error;
        const CurrentContext outer(device(0), error);
        {
            const CurrentContext inner(device(1), error);
            EXPECT_EQ(current_device().index, 1);
        }
        EXPECT_EQ(current_device().index, 0);
        EXPECT_FALSE(error.failed());
    }).join();
}

// ---- memory
// ---------------------------------------------------------------------------------------

TEST_F(CudaMemory, AllocationRetriesOnceThePoolIsTrimmed) {
    fail("cuMemAllocFromPoolAsync", kOutOfMemory);
    const DevicePointer at = allocate(device(0), 100, nullptr, error_);
    EXPECT_NE(at, 0U);
    EXPECT_FALSE(error_.failed());
    EXPECT_EQ(fake().trims, 1);
    EXPECT_EQ(place_of(at + 99).device, 0);
    EXPECT_EQ(place_of(at).kind, PointerPlace::Kind::kDevice);
    release(device(0), at, nullptr);
    EXPECT_EQ(fake().releases, 1);
    int host = 0;
    EXPECT_EQ(place_of(reinterpret_cast<DevicePointer>(&host)).kind, PointerPlace::Kind::kUnknown);
}

TEST_F(CudaMemory, OutOfMemorySaysHowMuch) {
    fail("cuMemAllocFromPoolAsync", kOutOfMemory, 2);
    EXPECT_EQ(allocate(device(0), 123'000'000, nullptr, error_), 0U);
    EXPECT_EQ(error_.code, Code::kP528);
    EXPECT_EQ(
        error_.message,
        "the GPU is out of memory while allocating 123 MB on GPU 0: 12 MB of 137438 MB are free");
    EXPECT_TRUE(contains(error_.help, "torch.cuda.empty_cache()"));
}

TEST_F(CudaMemory, MemoryOfSeveralStreamsIsFreedBehindAll) {
    const Device& one = device(0);
    RuntimeError error;
    const CurrentContext current(one, error);
    UsedStreams& streams = UsedStreams::of(one);
    const auto other = reinterpret_cast<Stream>(0x7001);  // does not wait for the default stream
    const int recorded = fake().recorded_events;
    streams.note(other);
    EXPECT_EQ(fake().recorded_events, recorded);  // no memory exists that it could use
    const DevicePointer memory = allocate(one, 100, other, error);
    streams.begin();
    streams.note(other);
    streams.note(other);
    EXPECT_EQ(fake().recorded_events, recorded + 2);
    fake().capturing = true;
    streams.note(other);  // records nothing and makes no call that would end the capture
    fake().capturing = false;
    EXPECT_EQ(fake().recorded_events, recorded + 2);
    const int waits = fake().waits_for_events;
    streams.end(memory);
    EXPECT_EQ(fake().waits_for_events, waits + 1);
    EXPECT_EQ(fake().last_free, nullptr);
}

TEST_F(CudaMemory, MemoryThatACaptureKeepsIsFreedLater) {
    const Device& one = device(0);
    RuntimeError error;
    const CurrentContext current(one, error);
    UsedStreams& streams = UsedStreams::of(one);
    const DevicePointer memory = allocate(one, 100, nullptr, error);
    streams.begin();
    fail("cuStreamIsCapturing", 906, 2);  // of the default stream, while a blocking stream captures
    const int releases = fake().releases;
    streams.end(memory);
    streams.retry();
    EXPECT_EQ(fake().releases, releases);
    streams.retry();
    EXPECT_EQ(fake().releases, releases + 1);
}

TEST_F(CudaMemory, GraphsKeepWhatWasMadeInTheirCapture) {
    const Device& one = device(0);
    RuntimeError error;
    const CurrentContext current(one, error);
    const Driver& driver = Driver::instance();
    UsedStreams& streams = UsedStreams::of(one);
    const auto recorded = reinterpret_cast<Stream>(0x7001);
    const auto graph = reinterpret_cast<CapturedWork>(24);
    for (const bool array_first : {true, false}) {
        GraphMemory* memory = GraphMemory::allocate(one, 100, recorded, error);
        ASSERT_NE(memory, nullptr);
        EXPECT_NE(memory->pointer(), 0U);
        const int releases = fake().releases;
        array_first ? memory->drop() : void(driver.cuGraphDestroy(graph));
        streams.retry();
        EXPECT_EQ(fake().releases, releases);
        array_first ? void(driver.cuGraphDestroy(graph)) : memory->drop();
        streams.retry();
        EXPECT_EQ(fake().releases, releases + 1);
    }
    for (const char* function : {"cuStreamGetCaptureInfo", "cuStreamCreate", "cuUserObjectCreate",
                                 "cuGraphRetainUserObject", "cuMemAllocFromPoolAsync"}) {
        const int living = fake().allocations - fake().releases;
        fail(function, 1, 1);
        EXPECT_EQ(GraphMemory::allocate(one, 100, recorded, error), nullptr) << function;
        EXPECT_TRUE(error.failed());
        error = {};
        streams.retry();
        EXPECT_EQ(fake().allocations - fake().releases, living) << function;
    }
}

TEST_F(CudaMemory, StacksAreAsLargeAsMemoryAllowsAndGivenBack) {
    const Device& one = device(0);
    RuntimeError error;
    const CurrentContext current(one, error);
    DeviceStacks& stacks = DeviceStacks::of(one);
    EXPECT_EQ(stacks.begin(error), 16384U);
    EXPECT_EQ(stacks.begin(error), 16384U);
    stacks.end();
    EXPECT_EQ(fake().stack_size, 16384U);
    stacks.end();
    EXPECT_EQ(fake().stack_size, 1024U);
    fail("cuCtxSetLimit", kOutOfMemory, 2);
    EXPECT_EQ(stacks.begin(error), 8192U);
    EXPECT_EQ(fake().trims, 1);
    stacks.end();
    fail("cuCtxSetLimit", kOutOfMemory, 4);
    EXPECT_EQ(stacks.begin(error), 0U);
    EXPECT_TRUE(contains(error.message, "stacks of 4096 bytes")) << error.message;
    EXPECT_TRUE(contains(error.message, " MB)")) << error.message;
}

TEST_F(CudaMemory, WrittenArraysComeBackOthersDoNot) {
    std::vector<int> in(100, 7), out(50, 1);
    {
        HostCopies copies(device(0), nullptr);
        copies.add(in.data(), in.size() * sizeof(int), false);
        copies.add(out.data(), out.size() * sizeof(int), true);
        ASSERT_FALSE(copies.copy_in().failed());
        auto* device_in = reinterpret_cast<int*>(copies.pointer(in.data() + 3));
        auto* device_out = reinterpret_cast<int*>(copies.pointer(out.data()));
        EXPECT_NE(device_in, in.data() + 3);
        EXPECT_EQ(*device_in, 7);
        *device_in = 9;
        device_out[49] = 42;
        ASSERT_FALSE(copies.copy_out().failed());
    }
    EXPECT_EQ(in[3], 7);
    EXPECT_EQ(out[49], 42);
    EXPECT_EQ(out[48], 1);
    EXPECT_EQ(fake().synchronizations, 1);
    EXPECT_EQ(fake().bytes_to_device, 600U);
    EXPECT_EQ(fake().bytes_to_host, 200U);
    EXPECT_EQ(fake().allocations, 2);
    EXPECT_EQ(fake().releases, 2);
}

TEST_F(CudaMemory, OverlappingArraysStayOverlapping) {
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    HostCopies copies(device(0), nullptr);
    copies.add(&all[40], 20 * sizeof(int), true);
    copies.add(&all[10], 40 * sizeof(int), false);
    copies.add(&all[10], 0, false);
    copies.add(&all[80], 10 * sizeof(int), false);
    ASSERT_FALSE(copies.copy_in().failed());
    EXPECT_EQ(fake().allocations, 2);
    EXPECT_EQ(copies.pointer(&all[45]) - copies.pointer(&all[10]), 35 * sizeof(int));
    EXPECT_EQ(copies.pointer(&all[10]) % 16, reinterpret_cast<std::uintptr_t>(&all[10]) % 16);
    EXPECT_EQ(*reinterpret_cast<int*>(copies.pointer(&all[89])), 89);
}

TEST_F(CudaMemory, LargeArraysGoThroughStaging) {
    const std::size_t count = 5'000'003;
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), 0);
    HostCopies copies(device(0), nullptr);
    copies.add(data.data(), count * sizeof(int), true);
    ASSERT_FALSE(copies.copy_in().failed());
    auto* there = reinterpret_cast<int*>(copies.pointer(data.data()));
    ASSERT_EQ(std::memcmp(there, data.data(), count * sizeof(int)), 0);
    for (std::size_t i = 0; i < count; ++i)
        there[i] = -there[i];
    ASSERT_FALSE(copies.copy_out().failed());
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(data[i], -static_cast<int>(i));
}

TEST_F(CudaMemory, ThreadsShareTheStagingBuffers) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            RuntimeError error;
            const CurrentContext current(device(0), error);
            std::vector<int> data(1'000'000, t);
            HostCopies copies(device(0), nullptr);
            copies.add(data.data(), data.size() * sizeof(int), true);
            EXPECT_FALSE(copies.copy_in().failed());
            std::ranges::fill(data, -1);
            EXPECT_FALSE(copies.copy_out().failed());
            EXPECT_EQ(data, std::vector<int>(1'000'000, t));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

TEST_F(CudaMemory, AFailedCopyFreesWhatItTook) {
    std::vector<int> a(10), b(10);
    fail("cuMemcpyHtoDAsync", 999, 1, 1);
    {
        HostCopies copies(device(0), nullptr);
        copies.add(a.data(), 40, false);
        copies.add(b.data(), 40, true);
        EXPECT_EQ(copies.copy_in().code, Code::kP529);
    }
    EXPECT_EQ(fake().allocations, fake().releases);
}

// ---- NVRTC
// ----------------------------------------------------------------------------------------

TEST_F(CudaRuntime, OptionsOfTheCompiler) {
    RuntimeError error;
    std::string image = compile_cuda("text", "k.cu", {}, error);
    EXPECT_EQ(image, "text\n// -arch=sm_90\n// --std=c++17\n// --fmad=false\n// --no-cache");
    image = compile_cuda("text", "k.cu", {"sm_80", true, {"/inc"}, {"-lineinfo"}}, error);
    EXPECT_EQ(image,
              "text\n// -arch=sm_80\n// --std=c++17\n// --use_fast_math\n// --no-cache\n"
              "// --include-path=/inc\n// -lineinfo");
    image = compile_cuda("text", "k.cu", {.architecture = "sm_103"}, error);
    EXPECT_TRUE(contains(image, "-arch=compute_90")) << "a newer GPU gets PTX";
    EXPECT_FALSE(error.failed());
}

TEST_F(CudaRuntime, HeadersOfTheUserComeBeforeOurs) {
    const std::string text = "#include <cuda_fp16.h>";
    RuntimeError error;
    (void)compile_cuda(text, "k.cu", {}, error);
    const int all = fake().headers;
    ASSERT_GT(all, 0);
    const std::string folder = testing::TempDir() + "parpy_headers";
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/" + fake().header) << "";
    for (const std::vector<std::string>& flags : {std::vector<std::string>{"-I" + folder},
                                                  {"--include-path=" + folder},
                                                  {"-I", folder},
                                                  {"--include-path", folder}}) {
        (void)compile_cuda(text, "k.cu", {.extra_flags = flags}, error);
        EXPECT_EQ(fake().headers, all - 1) << flags.front();
    }
    (void)compile_cuda(text, "k.cu", {.includes = {folder}}, error);
    EXPECT_EQ(fake().headers, all - 1);
    std::filesystem::remove_all(folder);
}

TEST_F(CudaRuntime, CompilerErrorsCarryTheLog) {
    RuntimeError error;
    fake().nvrtc_result = 6;
    EXPECT_EQ(compile_cuda("text", "k.cu", {}, error), "");
    EXPECT_EQ(error.code, Code::kP525);
    EXPECT_TRUE(contains(error.message, "\nthe log"));
    fake().nvrtc_result = 7;
    EXPECT_EQ(compile_cuda("text", "k.cu", {}, error), "");
    EXPECT_EQ(error.code, Code::kP524);
    EXPECT_TRUE(contains(error.message, "libnvrtc-builtins"));
    EXPECT_TRUE(contains(error.help, "pip install"));
}

TEST(CudaRuntimeDeathTest, MissingCompilerSaysHowToGetIt) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process: NVRTC is searched once
    const auto missing = [] {
        ::setenv("PARPY_NVRTC", "/no/such/libnvrtc.so.13", 1);
        RuntimeError error;
        const std::string image = compile_cuda("text", "k.cu", {}, error);
        const bool good = image.empty() && error.code == Code::kP523 &&
                          contains(error.message, "/no/such/libnvrtc.so.13") &&
                          contains(error.help, "pip install nvidia-cuda-nvrtc");
        std::_Exit(good ? 0 : 1);
    };
    EXPECT_EXIT(missing(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace parpy::cuda
