// The disk cache: entries come back, broken files are ignored, processes do not disturb each other,
// and the size stays below the bound.
#include "runtime/cache/kernel_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <vector>

namespace parpy {
namespace {

namespace fs = std::filesystem;

class KernelCacheTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "parpy-cache-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { fs::remove_all(directory_); }

    // The files of the entries.
    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> result;
        for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
            if (entry.is_regular_file() && entry.path().filename() != "CACHEDIR.TAG")
                result.push_back(entry.path());
        }
        return result;
    }

    fs::path directory_;
};

TEST_F(KernelCacheTest, WhatWasPutComesBack) {
    KernelCache cache(directory_, 1 << 20);
    const std::string key = KernelCache::key("cpu", "compiler", "source");
    EXPECT_EQ(cache.get(key), std::nullopt);
    const std::string value("a\0b", 3);
    cache.put(key, value);
    EXPECT_EQ(cache.get(key), value);
    EXPECT_EQ(KernelCache(directory_, 1 << 20).get(key), value);
    cache.put(key, "");
    EXPECT_EQ(cache.get(key), "");
    cache.clear();
    EXPECT_EQ(cache.get(key), std::nullopt);
}

TEST_F(KernelCacheTest, WhatIsMadeIsKeptUnlessItFailed) {
    KernelCache cache(directory_, 1 << 20);
    const std::string key = KernelCache::key("cpu", "compiler", "source");
    int made = 0;
    const auto make = [&](std::string value) { return [&made, value] { return ++made, value; }; };
    EXPECT_EQ(cache.get_or_make(key, make("")), "");  // a failed compilation is tried again
    EXPECT_EQ(cache.get(key), std::nullopt);
    EXPECT_EQ(cache.get_or_make(key, make("code")), "code");
    EXPECT_EQ(cache.get_or_make(key, make("other")), "code");
    EXPECT_EQ(made, 2);
    EXPECT_EQ(cache.get_or_make(std::nullopt, make("other")), "other");
    EXPECT_EQ(cache.get_or_make(std::nullopt, make("another")), "another");
    EXPECT_EQ(made, 4);
}

TEST_F(KernelCacheTest, KeysTellTheirPartsApart) {
    const std::string key = KernelCache::key("cpu", "ab", "c");
    EXPECT_EQ(key, KernelCache::key("cpu", "ab", "c"));
    EXPECT_NE(key, KernelCache::key("cpu", "a", "bc"));
    EXPECT_NE(key, KernelCache::key("cuda", "ab", "c"));
    EXPECT_TRUE(key.starts_with("cpu-"));
}

TEST_F(KernelCacheTest, BrokenEntriesMissAndAreReplaced) {
    KernelCache cache(directory_, 1 << 20);
    const std::string key = KernelCache::key("cpu", "compiler", "source");
    const std::string value(1000, 'x');
    const auto damage = [&](auto&& how) {
        cache.put(key, value);
        ASSERT_EQ(files().size(), 1u);
        how(files()[0]);
        EXPECT_EQ(cache.get(key), std::nullopt);
        cache.put(key, value);
        EXPECT_EQ(cache.get(key), value);
    };
    damage([](const fs::path& p) { fs::resize_file(p, fs::file_size(p) - 1); });
    damage([](const fs::path& p) { fs::resize_file(p, 0); });
    damage([](const fs::path& p) { std::ofstream(p, std::ios::app) << "more"; });
    damage([](const fs::path& p) {
        std::fstream file(p, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(500);
        file.put('y');
    });
    damage([](const fs::path& p) {
        std::fstream file(p, std::ios::in | std::ios::out | std::ios::binary);
        file.put('?');
    });
}

TEST_F(KernelCacheTest, AnotherEntrysBytesAreNoEntry) {
    KernelCache cache(directory_, 1 << 20);
    const std::string one = KernelCache::key("cpu", "compiler", "one");
    const std::string two = KernelCache::key("cpu", "compiler", "two");
    cache.put(one, "code of one");
    cache.put(two, "code of two");
    fs::path from, to;
    for (const fs::path& file : files())
        (file.filename() == one ? from : to) = file;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    EXPECT_EQ(cache.get(two), std::nullopt);
    EXPECT_EQ(cache.get(one), "code of one");
    cache.put(two, "code of two");
    EXPECT_EQ(cache.get(two), "code of two");
}

TEST_F(KernelCacheTest, ProcessesShareIt) {
    const std::string value(20'000, 'v');
    const auto key = [](int i) { return KernelCache::key("cpu", "", std::to_string(i)); };
    constexpr int kProcesses = 3, kKeys = 40;
    std::vector<pid_t> children;
    for (int p = 0; p < kProcesses; ++p) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            KernelCache cache(directory_, 1 << 24);
            bool good = true;
            for (int round = 0; round < 3; ++round) {
                for (int i = 0; i < kKeys; ++i) {
                    const auto got = cache.get(key(i));
                    good = good && (!got || *got == value);
                    cache.put(key(i), value);
                }
            }
            ::_exit(good ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    KernelCache cache(directory_, 1 << 24);
    for (int i = 0; i < kKeys; ++i)
        EXPECT_EQ(cache.get(key(i)), value);
    EXPECT_EQ(files().size(), static_cast<std::size_t>(kKeys));
}

TEST_F(KernelCacheTest, LeastRecentlyUsedGoFirst) {
    KernelCache roomy(directory_, 1 << 20), cache(directory_, 10'000);
    const auto key = [](int i) { return KernelCache::key("cpu", "", std::to_string(i)); };
    for (int i = 0; i < 30; ++i) {
        roomy.put(key(i), std::string(1000, 'v'));
        for (const fs::path& file : files()) {
            if (file.filename() == key(i)) {
                fs::last_write_time(file,
                                    fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
            }
        }
    }
    ASSERT_TRUE(cache.get(key(0)).has_value());  // a hit makes the entry the youngest
    cache.trim();
    EXPECT_TRUE(cache.get(key(0)).has_value());
    EXPECT_FALSE(cache.get(key(1)).has_value());
    EXPECT_TRUE(cache.get(key(29)).has_value());
    std::uintmax_t total = 0;
    for (const fs::path& file : files())
        total += fs::file_size(file);
    EXPECT_LE(total, 10'000u);
    EXPECT_GT(total, 5'000u);
}

TEST_F(KernelCacheTest, StaysNearItsBoundByItself) {
    KernelCache cache(directory_, 20'000);
    for (int i = 0; i < 600; ++i) {
        cache.put(KernelCache::key("cpu", "", std::to_string(i)), std::string(500, 'v'));
    }
    EXPECT_LT(files().size(), 400u);
}

TEST_F(KernelCacheTest, AFewLargeEntriesStayBelowTheBound) {
    for (int i = 0; i < 8; ++i) {  // each as if by a process of its own
        KernelCache cache(directory_, 20'000);
        cache.put(KernelCache::key("cpu", "", std::to_string(i)), std::string(9'000, 'v'));
        std::uintmax_t total = 0;
        for (const fs::path& file : files())
            total += fs::file_size(file);
        EXPECT_LE(total, 20'000u);
    }
    EXPECT_FALSE(files().empty());
}

TEST_F(KernelCacheTest, ADirectoryOthersCanWriteToIsNotUsed) {
    KernelCache cache(directory_, 1 << 20);
    const std::string key = KernelCache::key("cpu", "compiler", "source");
    cache.put(key, "value");
    ASSERT_TRUE(cache.get(key).has_value());
    EXPECT_EQ(cache.take_complaint(), std::nullopt);
    ::chmod((directory_ / "v1").c_str(), 0777);
    EXPECT_EQ(cache.get(key), std::nullopt);
    const std::optional<std::string> complaint = cache.take_complaint();
    ASSERT_TRUE(complaint.has_value());
    EXPECT_NE(complaint->find("other users may write to it"), std::string::npos) << *complaint;
    cache.put(key, "value");
    EXPECT_EQ(cache.take_complaint(), std::nullopt);  // complains once only
}

TEST_F(KernelCacheTest, ProcessesThatEmptyItDoNotDisturbOthers) {
    const auto key = [](int i) { return KernelCache::key("cpu", "", std::to_string(i % 2)); };
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        children.push_back(::fork());
        ASSERT_GE(children.back(), 0);
        if (children.back() != 0) continue;
        KernelCache cache(directory_, 1 << 20);
        for (int round = 0;; ++round) {  // until the process is killed
            if (i < 2) {
                cache.clear();
            } else {
                cache.put(key(round), "value");
            }
        }
    }
    KernelCache cache(directory_, 1 << 20);
    for (int i = 0; i < 1000; ++i) {
        cache.put(key(i), "value");
        const std::optional<std::string> got = cache.get(key(i));
        EXPECT_TRUE(!got || got == "value");
    }
    for (const pid_t child : children) {
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    }
    EXPECT_EQ(cache.take_complaint(), std::nullopt);
    cache.put(key(0), "other");
    EXPECT_EQ(cache.get(key(0)), "other");
}

TEST_F(KernelCacheTest, OnlyItsOwnNamesAreEverRemoved) {
    KernelCache cache(directory_, 1 << 20), tiny(directory_, 1000);
    for (int i = 0; i < 40; ++i)
        cache.put(KernelCache::key("cpu", "", std::to_string(i)), std::string(500, 'v'));
    const std::string hash = KernelCache::key("cpu", "", "0").substr(4);
    const fs::path own = directory_ / "v1", group = own / hash.substr(0, 2);
    fs::create_directories(own / "folder" / "00");
    const std::vector<fs::path> foreign = {
        own / "notes",           own / "folder" / "00" / ("cpu-" + hash),
        group / "notes",         group / ("cpu-" + hash + ".bak"),
        group / ("CPU-" + hash), group / "1-x.tmp",
        directory_ / "notes"};
    for (const fs::path& path : foreign) {
        std::ofstream(path) << std::string(2000, 'u');
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(10'000));
    }
    tiny.trim();
    EXPECT_LT(files().size(), foreign.size() + 3);
    for (const fs::path& path : foreign)
        EXPECT_EQ(fs::file_size(path), 2000u) << path;
    cache.clear();
    EXPECT_EQ(files().size(), foreign.size());
    for (const fs::path& path : foreign)
        EXPECT_EQ(fs::file_size(path), 2000u) << path;
    EXPECT_EQ(cache.take_complaint(), std::nullopt);
    const std::string key = KernelCache::key("cpu", "", "after");  // the folder is still a cache
    cache.put(key, "value");
    EXPECT_EQ(cache.get(key), "value");
}

TEST_F(KernelCacheTest, AnEmptiedCacheLeavesNothingBehind) {
    KernelCache cache(directory_ / "deep" / "cache/./", 1 << 20);
    cache.put(KernelCache::key("cpu", "", ""), "value");
    EXPECT_EQ(files().size(), 1u);
    EXPECT_TRUE(fs::exists(directory_ / "deep" / "cache" / "v1" / "CACHEDIR.TAG"));
    cache.clear();
    EXPECT_TRUE(fs::is_empty(directory_ / "deep" / "cache"));
}

TEST_F(KernelCacheTest, CachesOfVersionsWithoutATagAreUsed) {
    KernelCache cache(directory_, 1 << 20);
    const std::string key = KernelCache::key("cpu", "", "");
    cache.put(key, "value");
    const fs::path tag = directory_ / "v1" / "CACHEDIR.TAG";
    ASSERT_TRUE(fs::remove(tag));
    EXPECT_EQ(cache.get(key), "value");
    cache.put(key, "other");
    EXPECT_EQ(cache.get(key), "other");
    EXPECT_TRUE(fs::exists(tag));
    EXPECT_EQ(cache.take_complaint(), std::nullopt);
}

TEST(KernelCache, WithoutADirectoryEverythingMisses) {
    KernelCache cache({}, 1 << 20);
    cache.put("cpu-00", "value");
    EXPECT_EQ(cache.get("cpu-00"), std::nullopt);
    cache.clear();
}

}  // namespace
}  // namespace parpy
