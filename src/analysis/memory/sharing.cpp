// See sharing.h.
#include "analysis/memory/sharing.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace parpy {

using namespace ir;

bool may_share(const Var& a, const Var& b) {
    if (&a == &b) return true;
    if (a.space == Space::kDynamic && b.space == Space::kDynamic) return true;
    if (!a.aliased || !b.aliased) return false;
    return !a.placement || !b.placement || a.placement->group == b.placement->group;
}

// Whether each stride exceeds the span of all smaller ones. The dispatcher checks layouts with
// run-time strides or extents.
bool is_injective(const Var& array) {
    const bool known =
        std::ranges::all_of(array.dims, [](const Dim& dim) { return dim.extent && dim.stride; });
    if (!known) return !array.aliased;
    std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, extent
    for (const Dim& dim : array.dims) {
        if (*dim.extent > 1) dims.emplace_back(std::abs(*dim.stride), *dim.extent);
    }
    std::ranges::sort(dims);
    std::int64_t reach = 0;
    for (const auto& [stride, extent] : dims) {
        std::int64_t length = 0;
        if (stride <= reach || __builtin_mul_overflow(stride, extent - 1, &length) ||
            __builtin_add_overflow(reach, length, &reach)) {
            return false;
        }
    }
    return true;
}

}  // namespace parpy
