// Keeps mappings that parpy.tune found, in the disk cache beside the compiled code (kernel_cache.h)
// or in this process. Automatic mode looks here before it chooses a mapping.
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
    double seconds = 0;            // of a call with this mapping
    double automatic_seconds = 0;  // of a call with the automatic mode's own mapping
    friend bool operator==(const Tuning&, const Tuning&) = default;
};

// The key of the calls that a tuning holds for: the function, types, extents and whole numbers of
// the arguments, options without the mapping, the machine, ParPy's version. Values of
// floating-point numbers are not part of it. Empty: nothing is remembered for such calls.
[[nodiscard]] std::string tuning_key(std::string_view function, const Signature& signature,
                                     const Options& options);

// A tuning as text, and back. Lines in the names of loops are relative to the function's, which may
// thus move in its file. Nothing if the text is not a tuning.
[[nodiscard]] std::string written(const Tuning& tuning, std::int64_t first_line);
[[nodiscard]] std::optional<Tuning> read_tuning(std::string_view text, std::int64_t first_line);

// All functions are safe from any thread.
class Tunings {
public:
    static Tunings& instance();

    [[nodiscard]] std::optional<Tuning> get(const std::string& key, std::int64_t first_line);
    void put(const std::string& key, const Tuning& tuning, std::int64_t first_line);
    void clear();  // clears those of this process; clear the disk cache for the others

private:
    static constexpr std::size_t kMost = 4096;
    std::mutex mutex_;
    std::unordered_map<std::string, std::string> texts_;
};

}  // namespace parpy
