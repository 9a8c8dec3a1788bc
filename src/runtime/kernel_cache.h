// The disk cache: content-addressed, shared by concurrent processes, published atomically
// (write aside, fsync-free rename), bounded in size (least recently used goes first); an entry that
// does not verify is rebuilt. PARPY_CACHE_DIR, else $XDG_CACHE_HOME/parpy, else ~/.cache/parpy;
// PARPY_CACHE=0 turns it off; PARPY_CACHE_SIZE bounds it (bytes, default 1 GiB). A directory that
// belongs to or can be written by others is not used: its entries are machine code.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace parpy {

class KernelCache {
public:
    // The cache that the environment describes, read once.
    static KernelCache& instance();

    // An empty directory: no cache, every get misses.
    KernelCache(std::filesystem::path directory, std::uint64_t size);

    // The key is a hash of everything the entry depends on; ParPy's version is always part of it.
    // `kind` is a short word, readable in the file name.
    [[nodiscard]] static std::string key(std::string_view kind, std::string_view identity,
                                         std::string_view source);
    // All three are safe from any thread, and never fail loudly: it is a cache.
    [[nodiscard]] std::optional<std::string> get(const std::string& key);
    void put(const std::string& key, std::string_view value);
    void clear();

    // The entry of `key`, else what make() returns, which then becomes it unless it is empty. No
    // key: make() alone.
    template <class Make>
    [[nodiscard]] std::string get_or_make(const std::optional<std::string>& key, Make&& make) {
        if (!key) return make();
        if (std::optional<std::string> known = get(*key)) return std::move(*known);
        std::string made = make();
        if (!made.empty()) put(*key, made);
        return made;
    }

    // Removes the least recently used entries until the rest fits. put does so now and then,
    // and when it has written a 64th of the bound.
    void trim();

private:
    [[nodiscard]] bool usable();
    [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;

    std::filesystem::path directory_;
    std::uint64_t size_;
    std::atomic<std::uint64_t> unseen_ = 0;  // bytes written since the last trim
};

}  // namespace parpy
