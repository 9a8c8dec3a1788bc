// The disk cache: content-addressed, shared by concurrent processes, published atomically
// (write aside, fsync-free rename), bounded in size (least recently used goes first); an entry that
// does not verify is rebuilt. PARPY_CACHE_DIR, else $XDG_CACHE_HOME/parpy, else ~/.cache/parpy;
// PARPY_CACHE=0 turns it off; PARPY_CACHE_SIZE bounds it (bytes, default 1 GiB).
//
// It trusts nothing that it finds, for its entries are machine code: it does not use links, files
// that others own or can write to, or folders that it did not make, and it tells the user the
// reason once. It writes, changes and removes only files with its own names in its own folders.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cache/cache_folder.h"

namespace parpy {

class KernelCache {
public:
    // The cache configured by the environment, which is read once.
    static KernelCache& instance();

    // An empty directory: no cache, every get misses.
    KernelCache(std::filesystem::path directory, std::uint64_t size);

    // A hash of everything that the entry depends on, which always includes ParPy's version. `kind`
    // is a short word, readable in the file name.
    [[nodiscard]] static std::string key(std::string_view kind, std::string_view identity,
                                         std::string_view source);
    // All three are safe from any thread, and report no failure: a cache may miss.
    [[nodiscard]] std::optional<std::string> get(const std::string& key);
    void put(const std::string& key, std::string_view value);
    void clear();

    // The entry of `key`. If there is none: the result of make(), which becomes the entry unless it
    // is empty. Without a key: make() alone.
    template <class Make>
    [[nodiscard]] std::string get_or_make(const std::optional<std::string>& key, Make&& make) {
        if (!key) return make();
        if (std::optional<std::string> known = get(*key)) return std::move(*known);
        std::string made = make();
        if (!made.empty()) put(*key, made);
        return made;
    }

    // Removes the least recently used entries until the rest fits. put calls it occasionally, and
    // after it has written a 64th of the bound.
    void trim();

    // The folder of the cache, and the most bytes that it may have; empty: there is no cache.
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
    [[nodiscard]] std::uint64_t bound() const { return size_; }

    // The first reason for which the cache could not be used: one sentence, returned once.
    [[nodiscard]] std::optional<std::string> take_complaint();

private:
    struct Folders {
        Folder root;  // the folder that the environment names
        Folder own;   // the cache's own folder in it; not open: there is none, or it is refused
    };
    [[nodiscard]] Folders open(bool make);
    // False: a folder was removed meanwhile; try again.
    [[nodiscard]] bool try_put(const std::string& key, std::string_view value);
    [[nodiscard]] std::optional<std::string> read(const Descriptor& file, const std::string& key);
    void complain(const Refusal& refusal);
    void complain(const std::optional<Refusal>& refusal) {
        if (refusal) complain(*refusal);
    }

    std::filesystem::path directory_;
    std::uint64_t size_;
    std::atomic<std::uint64_t> unseen_ = 0;  // bytes written since the last trim
    std::mutex mutex_;                       // guards all below
    bool complained_ = false;
    std::optional<std::string> complaint_;  // until it is taken
};

}  // namespace parpy
