// The disk cache: content-addressed, shared by concurrent processes, published atomically
// (write aside, fsync-free rename), bounded in size (least recently used goes first); an entry that
// does not verify is rebuilt. PARPY_CACHE_DIR, else $XDG_CACHE_HOME/parpy, else ~/.cache/parpy;
// PARPY_CACHE=0 turns it off; PARPY_CACHE_SIZE bounds it (bytes, default 1 GiB).
//
// It trusts nothing that it finds, for its entries are machine code: links, what belongs to others
// or can be written by them, and folders that it did not make are not used, and the user is told
// why once. It writes, changes and removes only files of its own names in folders of its own.
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

    // Where it is, and how many bytes it may have; empty: there is none.
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
    [[nodiscard]] std::uint64_t bound() const { return size_; }

    // Why the cache could not be used, the first time that it could not: one sentence, told once.
    [[nodiscard]] std::optional<std::string> take_complaint();

private:
    struct Folders {
        Folder root;  // that the environment names
        Folder own;   // in it, which the cache made; not open: there is none, or it is not used
    };
    [[nodiscard]] Folders open(bool make);
    // False: a folder was removed meanwhile.
    [[nodiscard]] bool try_put(const std::string& key, std::string_view value);
    [[nodiscard]] std::optional<std::string> read(const Descriptor& file, const std::string& key);
    void complain(const Refusal& refusal);
    void complain(const std::optional<Refusal>& refusal) {
        if (refusal) complain(*refusal);
    }

    std::filesystem::path directory_;
    std::uint64_t size_;
    std::atomic<std::uint64_t> unseen_ = 0;  // bytes written since the last trim
    std::mutex mutex_;                       // guards what follows
    bool complained_ = false;
    std::optional<std::string> complaint_;  // until it is taken
};

}  // namespace parpy
