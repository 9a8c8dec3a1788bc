// The one mapping data structure. Labels with an `opts` dict, pragmas and the automatic mode all
// end in a Mapping; map_loops reads it and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace parpy {

// How the user wants one labelled loop to run (parpy.LoopPar). Immutable; threads() and the others
// in Python return changed copies.
struct LoopPar {
    static constexpr std::int64_t kDefaultThreadsPerBlock = 1024;

    std::int64_t threads = 0;  // 0: none requested, the loop stays sequential
    bool reduce = false;
    std::int64_t threads_per_block = kDefaultThreadsPerBlock;
    friend bool operator==(const LoopPar&, const LoopPar&) = default;
};

// What a mapping for a GPU calls the array code outside of the mapped loops, which it then puts
// into Gpu blocks; without that request such code is an error (P306).
inline constexpr const char* kGpuCode = "gpu";

// From label to request. Labels that no statement carries are noted; near misses are errors (P301).
using Mapping = std::map<std::string, LoopPar>;

}  // namespace parpy
