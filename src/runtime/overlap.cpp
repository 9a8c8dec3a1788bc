// See overlap.h.
#include "runtime/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace parpy {

bool overlaps_itself(const ArgumentView& array) {
    if (is_contiguous(array)) return false;
    std::array<std::pair<std::int64_t, std::int64_t>, kMaxRank> dims;  // stride, reach
    std::size_t count = 0;
    for (int d = 0; d < array.rank(); ++d) {
        if (array.extents[d] == 0) return false;
        if (array.extents[d] == 1) continue;
        const std::int64_t stride = std::abs(array.strides[d]);
        dims[count++] = {stride, stride * (array.extents[d] - 1)};
    }
    std::sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count));
    std::int64_t end = ir::size_in_bytes(array.scalar());
    for (std::size_t i = 0; i < count; ++i) {
        if (dims[i].first < end) return true;
        end += dims[i].second;
    }
    return false;
}

std::uint64_t overlapping(Arguments arguments, std::uint64_t written) {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].is_array()) continue;
        const ByteRange range = byte_range(arguments[i]);
        const bool stored = (written & argument_bit(i)) != 0;
        if (stored && overlaps_itself(arguments[i])) result |= argument_bit(i);
        for (std::size_t j = 0; j < i; ++j) {
            if (!arguments[j].is_array()) continue;
            if (!stored && (written & argument_bit(j)) == 0) continue;
            if (intersect(arguments[i], range, arguments[j], byte_range(arguments[j]))) {
                result |= argument_bit(i) | argument_bit(j);
            }
        }
    }
    return result;
}

std::vector<ir::Placement> placements(Arguments arguments, std::uint64_t aliased) {
    std::vector<ir::Placement> result(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
        result[i].group = i;
    const auto member = [&](std::size_t i) {
        return (aliased & argument_bit(i)) != 0 && arguments[i].is_array();
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const std::size_t from = result[i].group, to = result[j].group;
            if (!member(i) || !member(j) || from == to) continue;
            if (!intersect(arguments[i], byte_range(arguments[i]), arguments[j],
                           byte_range(arguments[j]))) {
                continue;
            }
            for (ir::Placement& each : result) {
                if (each.group == from || each.group == to) each.group = std::min(from, to);
            }
        }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!member(i)) continue;
        result[i].offset = reinterpret_cast<std::int64_t>(arguments[i].data) -
                           reinterpret_cast<std::int64_t>(arguments[result[i].group].data);
    }
    return result;
}

}  // namespace parpy
