// See same_place.h.
#include "analysis/memory/same_place.h"

#include <algorithm>

namespace parpy {

using namespace ir;

std::vector<Delinearization::Pair> SamePlace::subscripts(const Access& a, const Access& b,
                                                         int loop) {
    std::vector<Delinearization::Pair> pairs;
    for (std::size_t axis = 0; axis < a.indices.size(); ++axis) {
        auto parts = delinearization_.digits(a, b, axis, loop);
        if (parts.empty()) parts.emplace_back(a.indices[axis], b.indices[axis]);
        std::ranges::move(parts, std::back_inserter(pairs));
    }
    return pairs;
}

void SamePlace::require(ConstraintSystem& system, int loop, const Access& a, const Access& b,
                        Memory memory) {
    if (a.anywhere || b.anywhere || memory == Memory::kUnclear) {
        system.assume_inexact(false);
        return;
    }
    if (memory == Memory::kSameElements) {
        for (const auto& [first, second] : subscripts(a, b, loop))
            system.require({{&first, 0}, {&second, 1, -1}}, 0, true);
        return;
    }
    const auto first = byte_address(*a.array, a.indices);
    const auto second = byte_address(*b.array, b.indices);
    if (!first || !second) {
        system.assume_inexact(false);
        return;
    }
    system.require({{&*second, 1}, {&*first, 0, -1}}, size_in_bytes(b.array->type.scalar) - 1,
                   false);
    system.require({{&*first, 0}, {&*second, 1, -1}}, size_in_bytes(a.array->type.scalar) - 1,
                   false);
}

}  // namespace parpy
