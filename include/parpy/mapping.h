// The one mapping data structure. Labels with an `opts` dict, pragmas and the automatic mode all
// become a Mapping; map_loops reads nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace parpy {

// The user's request for one labelled loop (parpy.LoopPar). Immutable; threads() and the other
// methods in Python return changed copies.
struct LoopPar {
    static constexpr std::int64_t kDefaultThreadsPerBlock = 1024;

    std::int64_t threads = 0;  // 0: not requested, the loop stays sequential
    bool reduce = false;
    std::int64_t threads_per_block = kDefaultThreadsPerBlock;
    friend bool operator==(const LoopPar&, const LoopPar&) = default;
};

// The key in a GPU mapping of the array code outside of the mapped loops, which then becomes Gpu
// blocks; without that request such code is an error (P306).
inline constexpr const char* kGpuCode = "gpu";

// Labels and their requests. A label without a statement gives a note, a near miss an error (P301).
using Mapping = std::map<std::string, LoopPar>;

}  // namespace parpy
