// See profiler_range.h.
#include "runtime/profiler_range.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/library.h"
#include "runtime/cuda/nvrtc.h"

namespace parpy {
namespace {

struct Ranges {
    int (*push)(const char*) = nullptr;
    int (*pop)() = nullptr;
};

Ranges find_ranges() {
    const char* wanted = std::getenv("PARPY_NVTX");
    if (wanted == nullptr || *wanted == '\0' || std::string_view(wanted) == "0") return {};
    std::vector<std::string> files = {wanted};
    if (std::string_view(wanted) == "1") files = cuda::library_candidates("libnvToolsExt.so.1");
    for (const std::string& file : files) {
        cuda::Library library(file);
        Ranges found;
        library.find(found.push, "nvtxRangePushA");
        library.find(found.pop, "nvtxRangePop");
        if (library.problem().empty()) return found;
    }
    return {};
}

const Ranges& ranges() {
    static const Ranges found = find_ranges();
    return found;
}

}  // namespace

ProfilerRange::ProfilerRange(const char* name) {
    if (ranges().push != nullptr) [[unlikely]]
        ranges().push(name);
}

ProfilerRange::~ProfilerRange() {
    if (ranges().pop != nullptr) [[unlikely]]
        ranges().pop();
}

}  // namespace parpy
