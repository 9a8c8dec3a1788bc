// One file per entry, DIRECTORY/v1/KK/KIND-HASH with KK the hash's first two digits: a header
// (magic, length, checksum) and the value. The checksum covers the key, so that a file under
// another entry's name is rejected. Readers see whole files only, because writers rename into
// place. DIRECTORY/v1/CACHEDIR.TAG tells us and backup programs that the folder is the cache's.
#include "runtime/cache/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>
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
constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kDigits = 32;       // of the hash in an entry's name
constexpr std::time_t kAbandoned = 3600;  // seconds after which a temporary file is abandoned

// https://bford.info/cachedir/: tools recognise the first line.
constexpr char kTag[] = "CACHEDIR.TAG";
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Code compiled by ParPy (https://bford.info/cachedir/). Everything here may be removed.\n";

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

bool all_of(std::string_view text, std::string_view allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kHexadecimal = "0123456789abcdef";

bool is_group(std::string_view name) {
    return name.size() == 2 && all_of(name, kHexadecimal);
}

bool is_entry(std::string_view name) {
    return name.size() > kDigits + 1 && name[name.size() - kDigits - 1] == '-' &&
           all_of(name.substr(name.size() - kDigits), kHexadecimal) &&
           all_of(name.substr(0, name.size() - kDigits - 1), "abcdefghijklmnopqrstuvwxyz");
}

bool is_temporary(std::string_view name) {
    if (!name.ends_with(kTemporary)) return false;
    name.remove_suffix(kTemporary.size());
    const std::size_t dash = name.find('-');
    return dash != std::string_view::npos && dash > 0 && dash + 1 < name.size() &&
           all_of(name.substr(0, dash), "0123456789") &&
           all_of(name.substr(dash + 1), "0123456789");
}

std::string group_of(const std::string& key) {
    const std::size_t dash = key.rfind('-');
    return key.substr(dash == std::string::npos ? 0 : dash + 1, 2);
}

// Readers see the whole new file or the old one; no other file is touched. 0 or errno.
int publish(const Folder& folder, const std::string& name,
            std::initializer_list<std::string_view> parts) {
    static std::atomic<unsigned> count{0};
    std::string aside;
    Descriptor file;
    // Processes of other containers may have the same process number.
    for (int attempt = 0; attempt < 64 && !file.is_open(); ++attempt) {
        aside = std::to_string(::getpid()) + "-" + std::to_string(count.fetch_add(1));
        aside += kTemporary;
        constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        file = Descriptor(::openat(folder.number(), aside.c_str(), kNew, 0600));
        if (!file.is_open() && errno != EEXIST) return errno;
    }
    if (!file.is_open()) return EEXIST;
    bool good = true;
    for (const std::string_view part : parts)
        good = good && file.write(part.data(), part.size());
    good = good && file.close() &&
           ::renameat(folder.number(), aside.c_str(), folder.number(), name.c_str()) == 0;
    if (good) return 0;
    const int error = errno;
    ::unlinkat(folder.number(), aside.c_str(), 0);
    return error;
}

enum class Tag { kNone, kOurs, kOther };

// Whether the cache made the folder, in one look: other processes may empty it.
Tag tag_of(const Folder& folder) {
    const Descriptor file(
        ::openat(folder.number(), kTag, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open()) return errno == ENOENT ? Tag::kNone : Tag::kOther;
    std::string text(kTagText.size(), '\0');
    const bool ours = file.read(text.data(), text.size()) && text == kTagText;
    return ours ? Tag::kOurs : Tag::kOther;
}

// A folder made a moment ago, or by a version without tags, contains only names of the cache.
bool could_be_tagged(const Folder& folder) {
    return std::ranges::all_of(folder.names(), [&](const std::string& name) {
        if (name == kTag) return tag_of(folder) != Tag::kOther;  // it was made just now
        if (is_group(name)) {
            const std::optional<struct stat> status = folder.status(name);
            return !status || S_ISDIR(status->st_mode);
        }
        return is_temporary(name);
    });
}

// Removes temporary files last written by then.
void remove_temporary(const Folder& folder, std::time_t until) {
    for (const std::string& name : folder.names()) {
        if (!is_temporary(name)) continue;
        const std::optional<struct stat> status = folder.status(name);
        if (status && is_own_file(*status) && status->st_mtime <= until)
            ::unlinkat(folder.number(), name.c_str(), 0);
    }
}

Folder open_group(const Folder& own, const std::string& name) {
    std::optional<Refusal> refusal;
    return open_folder(own, name, false, refusal);
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

KernelCache::KernelCache(fs::path directory, std::uint64_t size) : size_(size) {
    if (directory.empty()) return;
    std::error_code failed;  // set where the working folder is gone
    directory_ = fs::absolute(directory, failed);
    // "link/" and "link/." would be the folder that the link leads to.
    while (directory_.has_relative_path() &&
           (!directory_.has_filename() || directory_.filename() == "."))
        directory_ = directory_.parent_path();
}

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
            result += kHexadecimal[(half >> shift) & 15];
        }
    }
    return result;
}

KernelCache::Folders KernelCache::open(bool make) {
    Folders folders;
    if (directory_.empty() || size_ == 0) return folders;
    std::optional<Refusal> refusal;
    folders.root = open_folder(directory_.string(), make, refusal);
    if (folders.root.is_open()) folders.own = open_folder(folders.root, kFormat, make, refusal);
    complain(refusal);
    if (!folders.own.is_open() || tag_of(folders.own) == Tag::kOurs) return folders;
    if (!could_be_tagged(folders.own)) {
        complain({folders.own.path, "it holds files that ParPy did not make",
                  "set PARPY_CACHE_DIR to another folder"});
        folders.own = {};
    } else if (make) {
        const int error = publish(folders.own, kTag, {kTagText});
        if (error != 0 && error != ENOENT)
            complain({folders.own.path, "it cannot be written to: " + words_for(error), {}});
        if (error != 0) folders.own = {};
    }
    return folders;
}

std::optional<std::string> KernelCache::get(const std::string& key) {
    const Folders folders = open(false);
    if (!folders.own.is_open()) return std::nullopt;
    std::optional<Refusal> refusal;
    const Folder group = open_folder(folders.own, group_of(key), false, refusal);
    complain(refusal);
    if (!group.is_open()) return std::nullopt;
    const std::optional<struct stat> status = group.status(key);
    if (!status) return std::nullopt;
    if (!is_own_file(*status)) {
        complain({group.path_of(key), "a file is there that ParPy did not make", "remove it"});
        return std::nullopt;
    }
    const Descriptor file(
        ::openat(group.number(), key.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open()) return std::nullopt;
    std::optional<std::string> value = read(file, key);
    if (!value) ::unlinkat(group.number(), key.c_str(), 0);
    return value;
}

// Nothing if the file is not a whole entry.
std::optional<std::string> KernelCache::read(const Descriptor& file, const std::string& key) {
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) return std::nullopt;
    Header header{};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < sizeof header || !file.read(&header, sizeof header)) return std::nullopt;
    if (header.size != size - sizeof header || header.size > size_) return std::nullopt;
    std::string value(header.size, '\0');
    if (!file.read(value.data(), value.size())) return std::nullopt;
    const Header expected = header_of(key, value);
    if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
    // The time of the last use, to the minute: saves a write per hit.
    if (::time(nullptr) - status.st_mtime > 60) ::futimens(file.number(), nullptr);
    return value;
}

void KernelCache::put(const std::string& key, std::string_view value) {
    // Another process may empty the cache at any moment.
    for (int attempt = 0; attempt < 8; ++attempt) {
        if (try_put(key, value)) break;
    }
    // One key in 64, and a process that wrote much, pays for looking at the whole directory.
    const bool chosen = key.size() > 1 && key.back() == '0' && (key[key.size() - 2] & 3) == 0;
    if (chosen || (unseen_ += sizeof(Header) + value.size()) > size_ / 64) trim();
}

bool KernelCache::try_put(const std::string& key, std::string_view value) {
    const Folders folders = open(true);
    if (!folders.own.is_open()) return true;
    std::optional<Refusal> refusal;
    const Folder group = open_folder(folders.own, group_of(key), true, refusal);
    complain(refusal);
    if (!group.is_open()) return refusal.has_value();
    if (const auto status = group.status(key); status && !is_own_file(*status)) {
        complain({group.path_of(key), "a file is there that ParPy did not make", "remove it"});
        return true;
    }
    const Header header = header_of(key, value);
    const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
    const int error = publish(group, key, {head, value});
    if (error == ENOENT) return false;
    if (error != 0) complain({group.path, "it cannot be written to: " + words_for(error), {}});
    return true;
}

void KernelCache::trim() {
    const Folders folders = open(false);
    if (!folders.own.is_open()) return;
    unseen_ = 0;
    struct Entry {
        std::string group;
        std::string name;
        timespec used;
        std::uint64_t size;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    const std::time_t abandoned = ::time(nullptr) - kAbandoned;
    remove_temporary(folders.own, abandoned);
    for (const std::string& name : folders.own.names()) {
        if (!is_group(name)) continue;
        const Folder group = open_group(folders.own, name);
        if (!group.is_open()) continue;
        remove_temporary(group, abandoned);
        for (const std::string& file : group.names()) {
            if (!is_entry(file)) continue;
            const std::optional<struct stat> status = group.status(file);
            if (!status || !is_own_file(*status)) continue;
            const auto size = static_cast<std::uint64_t>(status->st_size);
            entries.push_back({name, file, status->st_mtim, size});
            total += size;
        }
    }
    if (total <= size_) return;
    std::ranges::sort(entries, {}, [](const Entry& entry) {
        return std::pair(entry.used.tv_sec, entry.used.tv_nsec);
    });
    const std::uint64_t target = size_ - size_ / 10;
    for (const Entry& entry : entries) {
        if (total <= target) break;
        const Folder group = open_group(folders.own, entry.group);
        if (group.is_open()) ::unlinkat(group.number(), entry.name.c_str(), 0);
        total -= entry.size;
    }
}

void KernelCache::clear() {
    const Folders folders = open(false);
    if (!folders.own.is_open()) return;
    constexpr std::time_t kEver = std::numeric_limits<std::time_t>::max();
    remove_temporary(folders.own, kEver);
    for (const std::string& name : folders.own.names()) {
        if (!is_group(name)) continue;
        const Folder group = open_group(folders.own, name);
        if (!group.is_open()) continue;
        remove_temporary(group, kEver);
        for (const std::string& file : group.names()) {
            const std::optional<struct stat> status = group.status(file);
            if (is_entry(file) && status && is_own_file(*status))
                ::unlinkat(group.number(), file.c_str(), 0);
        }
        ::unlinkat(folders.own.number(), name.c_str(), AT_REMOVEDIR);  // only if it is empty
    }
    // The folder is removed if nothing is left in it; otherwise it stays, with its tag.
    if (folders.own.names() != std::vector<std::string>{kTag}) return;
    if (tag_of(folders.own) != Tag::kOurs) return;
    ::unlinkat(folders.own.number(), kTag, 0);
    ::unlinkat(folders.root.number(), kFormat, AT_REMOVEDIR);
}

void KernelCache::complain(const Refusal& refusal) {
    const std::lock_guard lock(mutex_);
    if (complained_) return;
    complained_ = true;
    complaint_ = "compiled code is not kept in '" + refusal.path + "': " + refusal.reason;
    if (!refusal.help.empty()) *complaint_ += " (" + refusal.help + ")";
}

std::optional<std::string> KernelCache::take_complaint() {
    const std::lock_guard lock(mutex_);
    return std::exchange(complaint_, std::nullopt);
}

}  // namespace parpy
