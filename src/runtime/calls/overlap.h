// Which arguments of a call share memory, and how. Functions that run in every call are inline.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/calls/argument_view.h"

namespace parpy {

// The bytes an array touches, relative to its data pointer: [first, last). Empty for zero-size
// arrays.
struct ByteRange {
    std::int64_t first = 0, last = 0;
};
[[nodiscard]] inline ByteRange byte_range(const ArgumentView& array) {
    ByteRange range{0, ir::size_in_bytes(array.scalar())};
    for (int d = 0; d < array.rank(); ++d) {
        if (array.extents[d] == 0) return {0, 0};
        const std::int64_t reach = (array.extents[d] - 1) * array.strides[d];
        (reach < 0 ? range.first : range.last) += reach;
    }
    return range;
}

[[nodiscard]] inline bool intersect(const ArgumentView& a, ByteRange ra, const ArgumentView& b,
                                    ByteRange rb) {
    const auto pa = reinterpret_cast<std::int64_t>(a.data);
    const auto pb = reinterpret_cast<std::int64_t>(b.data);
    return pa + ra.first < pb + rb.last && pb + rb.first < pa + ra.last;
}

// Whether the array is row-major without gaps, so that strides follow from extents. Dimensions of
// one element do not matter.
[[nodiscard]] inline bool is_contiguous(const ArgumentView& array) {
    std::int64_t expected = ir::size_in_bytes(array.scalar());
    for (int d = array.rank() - 1; d >= 0; --d) {
        if (array.extents[d] != 1 && array.strides[d] != expected) return false;
        expected *= array.extents[d];
    }
    return true;
}

// Whether two elements may share memory: a stride is within the reach of the smaller ones.
[[nodiscard]] bool overlaps_itself(const ArgumentView& array);

// Whether the arrays share no byte, but interleave as the fields of an array of records do.
[[nodiscard]] bool interleaved(const ArgumentView& a, const ArgumentView& b);

// A bit per argument; arguments from the 63rd on share the last bit, which is conservative.
constexpr std::uint64_t argument_bit(std::size_t argument) {
    return std::uint64_t{1} << (argument < 63 ? argument : 63);
}
// Bit i is set if array i shares bytes with another array and one of the two is in `written`, or if
// it is in `written` and some of its own elements may share memory.
[[nodiscard]] std::uint64_t overlapping(Arguments arguments, std::uint64_t written);
// Per argument with its bit in `aliased` set: the first argument that it overlaps, directly or
// through others, and its offset from that argument in bytes.
[[nodiscard]] std::vector<ir::Placement> placements(Arguments arguments, std::uint64_t aliased);

}  // namespace parpy
