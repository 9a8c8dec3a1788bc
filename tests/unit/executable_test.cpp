// load(): turns a program's text into an executable, through the disk cache, on the CPU.
#include "runtime/executable.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <vector>

namespace parpy {
namespace {

namespace fs = std::filesystem;

// The cache of this test run, which replaces the user's.
class CacheDirectory : public testing::Environment {
public:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "parpy-unit-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        path() = pattern;
        ::setenv("PARPY_CACHE_DIR", pattern.c_str(), 1);
        ::unsetenv("PARPY_CACHE");
    }
    void TearDown() override { fs::remove_all(path()); }

    static fs::path& path() {
        static fs::path p;
        return p;
    }
};

const testing::Environment* const kCacheDirectory =
    testing::AddGlobalTestEnvironment(new CacheDirectory);

std::size_t cached_files() {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(CacheDirectory::path())) {
        count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
}

Program program(std::string name, std::string host) {
    Program result;
    result.name = std::move(name);
    result.host = std::move(host);
    return result;
}

constexpr char kScale[] = R"(
struct ParpyContext;
extern "C" long parpy_chunks(ParpyContext*, long, double, long);
extern "C" void parpy_parallel_for(ParpyContext*, long, long, long,
                                   void (*)(void*, long, long, long), void*);
struct Frame { float a; float* x; };
static void body(void* frame, long begin, long end, long) {
    const Frame f = *(const Frame*)frame;
    for (long i = begin; i < end; ++i) f.x[i] *= f.a;
}
extern "C" int scale(ParpyContext* context, float a, float* x, long n) {
    Frame frame{a, x};
    parpy_parallel_for(context, n, parpy_chunks(context, n, 100.0, 0), 0, body, &frame);
    return 0;
}
extern "C" int scale_slots(ParpyContext* context, const unsigned long* slots) {
    return scale(context, __builtin_bit_cast(float, (unsigned)slots[0]), (float*)slots[1],
                 (long)slots[2]);
}
)";

TEST(Executable, RunsOnTheWorkers) {
    RuntimeError error;
    const auto scale = load(program("scale", kScale), {}, error);
    ASSERT_TRUE(scale) << error.message;
    std::vector<float> x(10'000);
    std::iota(x.begin(), x.end(), 0.0f);
    const std::uint64_t slots[] = {std::bit_cast<std::uint32_t>(3.0f),
                                   reinterpret_cast<std::uintptr_t>(x.data()), x.size()};
    EXPECT_FALSE(scale->run(slots, nullptr, nullptr).failed());
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(x[i], 3.0f * static_cast<float>(i));
}

TEST(Executable, SecondLoadComesFromTheDisk) {
    RuntimeError error;
    const Program once = program("once", "extern \"C\" int once_slots(void*, void*) { return 0; }");
    const std::size_t before = cached_files();
    ASSERT_TRUE(load(once, {}, error)) << error.message;
    EXPECT_EQ(cached_files(), before + 1);
    ASSERT_TRUE(load(once, {}, error)) << error.message;
    EXPECT_EQ(cached_files(), before + 1);
    Options fast;
    fast.fast_math = true;
    ASSERT_TRUE(load(once, fast, error)) << error.message;
    EXPECT_EQ(cached_files(), before + 2);
}

TEST(Executable, TextThatIncludesFilesIsNotCached) {
    RuntimeError error;
    Options options;
    options.includes = {"."};
    const std::size_t before = cached_files();
    ASSERT_TRUE(load(program("inc",
                             "#include <cstdint>\n"
                             "extern \"C\" int inc_slots(void*, void*) { return 0; }"),
                     options, error))
        << error.message;
    EXPECT_EQ(cached_files(), before);
}

TEST(Executable, CorruptCacheEntriesAreRebuilt) {
    RuntimeError error;
    const Program torn = program("torn", "extern \"C\" int torn_slots(void*, void*) { return 0; }");
    ASSERT_TRUE(load(torn, {}, error)) << error.message;
    for (const auto& entry : fs::recursive_directory_iterator(CacheDirectory::path())) {
        if (entry.is_regular_file()) fs::resize_file(entry.path(), 100);
    }
    const auto again = load(torn, {}, error);
    ASSERT_TRUE(again) << error.message;
    EXPECT_FALSE(again->run(nullptr, nullptr, nullptr).failed());
}

TEST(Executable, BadTextIsReportedEachTime) {
    for (int i = 0; i < 2; ++i) {
        RuntimeError error;
        EXPECT_EQ(load(program("bad", "this is no C++"), {}, error), nullptr);
        EXPECT_EQ(error.code, Code::kP510);
    }
}

TEST(Executable, TextWithoutItsEntryIsReported) {
    RuntimeError error;
    EXPECT_EQ(load(program("f", "extern \"C\" int g() { return 0; }"), {}, error), nullptr);
    EXPECT_EQ(error.code, Code::kP513);
    EXPECT_NE(error.message.find("'f_slots'"), std::string::npos) << error.message;
}

TEST(Executable, BackEndsThatCannotRunSaySo) {
    RuntimeError error;
    Options options;
    options.backend = Backend::kMetal;
    EXPECT_EQ(load(program("scale", kScale), options, error), nullptr);
    EXPECT_EQ(error.code, Code::kP514);
}

TEST(Executable, LaunchingOnTheCpuFails) {
    RuntimeError error;
    const auto stray = load(
        program("stray",
                "struct ParpyContext;"
                "extern \"C\" int parpy_launch(ParpyContext*, int, unsigned, unsigned, unsigned,"
                "unsigned, unsigned, unsigned, unsigned, void**);"
                "extern \"C\" int stray_slots(ParpyContext* c, const unsigned long*) {"
                "  return parpy_launch(c, 0, 1, 1, 1, 1, 1, 1, 0, nullptr); }"),
        {}, error);
    ASSERT_TRUE(stray) << error.message;
    EXPECT_EQ(stray->run(nullptr, nullptr, nullptr).code, Code::kP900);
}

}  // namespace
}  // namespace parpy
