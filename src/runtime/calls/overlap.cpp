// See overlap.h.
#include "runtime/calls/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace parpy {

namespace {

// The dimensions of more than one element, the fastest first.
struct Steps {
    struct Step {
        std::int64_t stride, reach;
    };
    explicit Steps(const ArgumentView& array) {
        for (int d = 0; d < array.rank(); ++d) {
            if (array.extents[d] == 1) continue;
            const std::int64_t stride = std::abs(array.strides[d]);
            steps[count++] = {stride, stride * (array.extents[d] - 1)};
        }
        std::sort(begin(), end(), [](Step a, Step b) { return a.stride < b.stride; });
    }
    Step* begin() { return steps.data(); }
    Step* end() { return steps.data() + count; }

    std::array<Step, kMaxRank> steps;
    std::size_t count = 0;
};

// Consecutive bytes that repeat after each `period`.
struct Pattern {
    explicit Pattern(const ArgumentView& array) : bytes(ir::size_in_bytes(array.scalar())) {
        for (const auto& [stride, reach] : Steps(array)) {
            if (stride <= bytes && period == 0) {
                bytes += reach;
            } else {
                period = std::gcd(period, stride);
            }
        }
    }
    std::int64_t bytes, period = 0;
};

}  // namespace

bool overlaps_itself(const ArgumentView& array) {
    if (is_contiguous(array)) return false;
    if (std::count(array.extents, array.extents + array.rank(), 0) != 0) return false;
    std::int64_t end = ir::size_in_bytes(array.scalar());
    for (const auto& [stride, reach] : Steps(array)) {
        if (stride < end) return true;
        end += reach;
    }
    return false;
}

bool interleaved(const ArgumentView& a, const ArgumentView& b) {
    const Pattern of_a(a), of_b(b);
    const std::int64_t period = std::gcd(of_a.period, of_b.period);
    if (period == 0) return false;
    const auto start = [](const ArgumentView& array) {
        return reinterpret_cast<std::int64_t>(array.data) + byte_range(array).first;
    };
    const std::int64_t apart = ((start(b) - start(a)) % period + period) % period;
    return apart >= of_a.bytes && apart + of_b.bytes <= period;
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
