// See contiguity.h.
#include "analysis/memory/contiguity.h"

#include <algorithm>

namespace parpy {

using namespace ir;

std::optional<bool> lie_side_by_side(std::span<const Dim> dims, bool by_hand) {
    const auto is_known = [](const Dim& dim) { return dim.extent && dim.stride; };
    if (by_hand && !std::ranges::all_of(dims, is_known)) return dims.back().stride == 1;
    if (std::ranges::any_of(dims, [](const Dim& dim) { return dim.extent == 0; })) return true;
    std::int64_t stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        const Dim& dim = dims[i];
        if (dim.extent == 1) continue;
        if (!dim.stride) return std::nullopt;
        if (*dim.stride != stride) return false;
        if (!dim.extent) return i == 0 ? std::optional(true) : std::nullopt;
        stride *= *dim.extent;
    }
    return true;
}

}  // namespace parpy
