// See sim_headers.h.
#include "runtime/sim/sim_headers.h"

namespace parpy::sim {

namespace {

constexpr char kHalves[] =
#include "dialects/prelude/sim_fp16.inc"
    ;
constexpr char kGroups[] =
#include "dialects/prelude/sim_groups.inc"
    ;
constexpr char kReductions[] = "#pragma once\n#include <cooperative_groups.h>\n";

constexpr DeviceHeader kHeaders[] = {
    {"cuda_fp16.h", kHalves},
    {"cooperative_groups.h", kGroups},
    {"cooperative_groups/reduce.h", kReductions},
};

}  // namespace

std::span<const DeviceHeader> own_headers() {
    return kHeaders;
}

}  // namespace parpy::sim
