// One file per entry, DIRECTORY/v1/KK/KIND-HASH with KK the hash's first two digits: a header
// (magic, length, checksum) and the value. The checksum covers the key, so that a file under
// another entry's name is no entry. Readers see whole files only, because writers rename into
// place.
#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/environment.h"

namespace parpy {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultSize = std::uint64_t{1} << 30;
constexpr char kFormat[] = "v1";
constexpr char kMagic[8] = {'p', 'a', 'r', 'p', 'y', 'k', 'c', '2'};
constexpr char kTemporary[] = ".tmp";

struct Header {
    char magic[8];
    std::uint64_t size;
    std::uint64_t checksum[2];
};

Header header_of(std::string_view key, std::string_view value) {
    const std::uint64_t seed = XXH3_64bits(key.data(), key.size());
    const XXH128_hash_t hash = XXH3_128bits_withSeed(value.data(), value.size(), seed);
    Header header{{}, value.size(), {hash.low64, hash.high64}};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    return header;
}

class File {
public:
    File(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags, 0600)) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

    [[nodiscard]] bool read(void* data, std::size_t size) const {
        auto* at = static_cast<char*>(data);
        while (size > 0) {
            const ssize_t n = ::read(descriptor_, at, size);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            at += n;
            size -= static_cast<std::size_t>(n);
        }
        return true;
    }

    [[nodiscard]] bool write(const void* data, std::size_t size) const {
        const auto* at = static_cast<const char*>(data);
        while (size > 0) {
            const ssize_t n = ::write(descriptor_, at, size);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            at += n;
            size -= static_cast<std::size_t>(n);
        }
        return true;
    }

private:
    int descriptor_;
};

std::optional<std::string> read_entry(const File& file, const std::string& key) {
    struct stat status{};
    if (::fstat(file.descriptor(), &status) != 0) return std::nullopt;
    Header header{};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < sizeof header || !file.read(&header, sizeof header)) return std::nullopt;
    if (header.size != size - sizeof header) return std::nullopt;
    std::string value(header.size, '\0');
    if (!file.read(value.data(), value.size())) return std::nullopt;
    const Header expected = header_of(key, value);
    if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
    // The time of the last use, to the minute: saves a write per hit.
    if (::time(nullptr) - status.st_mtime > 60) ::futimens(file.descriptor(), nullptr);
    return value;
}

fs::path environment_directory() {
    const auto variable = [](const char* name) -> fs::path {
        const char* value = std::getenv(name);
        return value == nullptr ? "" : value;
    };
    if (variable("PARPY_CACHE") == "0") return {};
    if (const fs::path own = variable("PARPY_CACHE_DIR"); !own.empty()) return own;
    if (const fs::path xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "parpy";
    if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache" / "parpy";
    return {};
}

}  // namespace

KernelCache& KernelCache::instance() {
    static KernelCache cache(environment_directory(),
                             environment_number("PARPY_CACHE_SIZE").value_or(kDefaultSize));
    return cache;
}

KernelCache::KernelCache(fs::path directory, std::uint64_t size)
    : directory_(directory.empty() ? fs::path() : directory / kFormat), size_(size) {}

std::string KernelCache::key(std::string_view kind, std::string_view identity,
                             std::string_view source) {
    std::string all;
    for (const std::string_view part : {std::string_view(PARPY_VERSION), kind, identity, source}) {
        all += std::to_string(part.size());
        all += ':';
        all += part;
    }
    const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
    std::string result(kind);
    result += '-';
    for (const std::uint64_t half : {hash.high64, hash.low64}) {
        for (int shift = 60; shift >= 0; shift -= 4) {
            result += "0123456789abcdef"[(half >> shift) & 15];
        }
    }
    return result;
}

fs::path KernelCache::file_of(const std::string& key) const {
    const std::size_t dash = key.rfind('-');
    return directory_ / key.substr(dash == std::string::npos ? 0 : dash + 1, 2) / key;
}

// Ours, and nobody else's to write to.
bool KernelCache::usable() {
    if (directory_.empty() || size_ == 0) return false;
    struct stat status{};
    return ::stat(directory_.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> KernelCache::get(const std::string& key) {
    if (!usable()) return std::nullopt;
    const fs::path path = file_of(key);
    const File file(path, O_RDONLY | O_CLOEXEC);
    if (!file.is_open()) return std::nullopt;
    std::optional<std::string> value = read_entry(file, key);
    if (!value) ::unlink(path.c_str());
    return value;
}

void KernelCache::put(const std::string& key, std::string_view value) {
    if (directory_.empty() || size_ == 0) return;
    const fs::path path = file_of(key);
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return;
    ::chmod(directory_.c_str(), 0700);
    if (!usable()) return;

    static std::atomic<unsigned> count{0};
    const fs::path aside = path.parent_path() / (std::to_string(::getpid()) + "-" +
                                                 std::to_string(count.fetch_add(1)) + kTemporary);
    bool written = false;
    {
        const File file(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
        const Header header = header_of(key, value);
        written = file.is_open() && file.write(&header, sizeof header) &&
                  file.write(value.data(), value.size());
    }
    if (!written || ::rename(aside.c_str(), path.c_str()) != 0) ::unlink(aside.c_str());
    // One key in 64 pays for looking at the whole directory, and whoever wrote much of it.
    const bool chosen = key.size() > 1 && key.back() == '0' && (key[key.size() - 2] & 3) == 0;
    if (chosen || (unseen_ += sizeof(Header) + value.size()) > size_ / 64) trim();
}

void KernelCache::trim() {
    if (!usable()) return;
    unseen_ = 0;
    struct Entry {
        fs::path path;
        fs::file_time_type used;
        std::uint64_t size;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    std::error_code failed;
    const auto now = fs::file_time_type::clock::now();
    fs::recursive_directory_iterator at(directory_, failed), end;
    for (; !failed && at != end; at.increment(failed)) {
        // Another process may remove what we are looking at: its attributes are then an error.
        std::error_code gone;
        if (!at->is_regular_file(gone) || gone) continue;
        const auto used = at->last_write_time(gone);
        const std::uint64_t size = gone ? 0 : at->file_size(gone);
        if (gone) continue;
        if (at->path().extension() == kTemporary) {
            if (now - used > std::chrono::hours(1)) fs::remove(at->path(), gone);
            continue;
        }
        entries.push_back({at->path(), used, size});
        total += size;
    }
    if (total <= size_) return;
    std::ranges::sort(entries, {}, &Entry::used);
    const std::uint64_t target = size_ - size_ / 10;
    for (const Entry& entry : entries) {
        if (total <= target) break;
        std::error_code gone;
        fs::remove(entry.path, gone);
        total -= entry.size;
    }
}

void KernelCache::clear() {
    if (!usable()) return;
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

}  // namespace parpy
