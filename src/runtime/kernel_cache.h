// The disk cache: content-addressed, shared by concurrent processes, published atomically
// (write aside, fsync-free rename), bounded in size (least recently used goes first); an entry that
// does not verify is rebuilt. PARPY_CACHE_DIR, else $XDG_CACHE_HOME/parpy, else ~/.cache/parpy;
// PARPY_CACHE=0 turns it off; PARPY_CACHE_SIZE bounds it (bytes, default 1 GiB).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parpy {

class KernelCache {
public:
    static KernelCache& instance();

    // The key is a hash of everything the entry depends on.
    [[nodiscard]] static std::string key(std::string_view kind, std::string_view identity,
                                         std::string_view source);
    [[nodiscard]] std::optional<std::string> get(const std::string& key);
    void put(const std::string& key, std::string_view value);  // failures are silent: it is a cache
    void clear();
};

}  // namespace parpy
