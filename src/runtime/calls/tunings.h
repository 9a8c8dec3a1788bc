// Keeps mappings that parpy.tune found, beside the compiled code in the disk cache (kernel_cache.h)
// or in this process. An automatic call that is compiled asks here first.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "parpy/options.h"
#include "parpy/tune.h"

namespace parpy {

struct Tuning {
    Tuned tuned;
    double seconds = 0;            // of a call with it
    double automatic_seconds = 0;  // of a call with the automatic mode's own mapping
    friend bool operator==(const Tuning&, const Tuning&) = default;
};

// For which calls one holds: the function, types, extents and whole numbers of its arguments,
// options but the mapping, the machine, the version of ParPy. The values of floating-point numbers
// are no part of it. Empty: nothing is remembered for such calls.
[[nodiscard]] std::string tuning_key(std::string_view function, const Signature& signature,
                                     const Options& options);

// As text and back. Lines in the names of loops are counted from that of the function, so that it
// may move in its file. Nothing for what is no such text.
[[nodiscard]] std::string written(const Tuning& tuning, std::int64_t first_line);
[[nodiscard]] std::optional<Tuning> read_tuning(std::string_view text, std::int64_t first_line);

// All are safe from any thread.
class Tunings {
public:
    static Tunings& instance();

    [[nodiscard]] std::optional<Tuning> get(const std::string& key, std::int64_t first_line);
    void put(const std::string& key, const Tuning& tuning, std::int64_t first_line);
    void clear();  // those of this process; the others go with the disk cache

private:
    static constexpr std::size_t kMost = 4096;
    std::mutex mutex_;
    std::unordered_map<std::string, std::string> texts_;
};

}  // namespace parpy
