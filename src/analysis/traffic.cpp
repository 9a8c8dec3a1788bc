// See traffic.h.
#include "analysis/traffic.h"

#include <algorithm>
#include <cmath>

#include "analysis/memory_layout.h"
#include "mapping/geometry.h"

namespace parpy {
namespace {

std::size_t index(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

double Traffic::trips(const ir::For& loop) const {
    if (const auto exact = constant_trip_count(loop)) return static_cast<double>(*exact);
    const int number = accesses_.loop_of(&loop);
    return number < 0 ? kGuessedTrips : trips(number);
}

// From the conditions on the counter, c >= 0 and limit - k c >= 0: the mean of the limit's range.
double Traffic::trips(int loop) const {
    const LoopInstance& instance = accesses_.loops()[index(loop)];
    if (const auto exact = constant_trip_count(*instance.stmt)) return static_cast<double>(*exact);
    std::optional<double> best;
    for (const Condition& bound : instance.bounds) {
        const std::int64_t factor = bound.value.coefficient(instance.counter);
        if (bound.equality || factor >= 0) continue;
        const auto limit = sum(bound.value, Affine::symbol(instance.counter), -factor);
        if (!limit) continue;
        const Interval range = accesses_.range(*limit);
        if (range.low <= -Accesses::kLargestParameter / 2 ||
            range.high >= Accesses::kLargestParameter / 2) {
            continue;
        }
        const double mean = (static_cast<double>(std::max<std::int64_t>(range.low, 0)) +
                             static_cast<double>(std::max<std::int64_t>(range.high, 0))) /
                            2;
        const double count = std::floor(mean / static_cast<double>(-factor)) + 1;
        best = std::min(best.value_or(count), count);
    }
    return best.value_or(kGuessedTrips);
}

double Traffic::runs(int loop) const {
    double result = 1;
    for (const int around : accesses_.chain(loop))
        result *= trips(around);
    return result;
}

std::optional<std::int64_t> Traffic::stride(const Access& access, int loop) const {
    if (access.anywhere || access.indices.empty()) return std::nullopt;
    std::optional<Affine> address = byte_address(*access.array, access.indices);
    const std::int64_t size = ir::size_in_bytes(access.array->type.scalar);
    const LoopInstance& instance = accesses_.loops()[index(loop)];
    if (!address) {
        // Strides that the call leaves open: the last axis is taken to be the contiguous one.
        for (std::size_t axis = 0; axis + 1 < access.indices.size(); ++axis) {
            if (access.indices[axis].coefficient(instance.counter) != 0) return std::nullopt;
        }
        address = sum(Affine{}, access.indices.back(), size);
        if (!address) return std::nullopt;
    }
    for (const auto& [symbol, coefficient] : address->terms) {
        const Symbol& s = accesses_.symbols()[index(symbol)];
        const bool computed = s.kind == Symbol::Kind::kOpaque || s.kind == Symbol::Kind::kDefined;
        if (computed && s.scope >= 0 && accesses_.inside(s.scope, loop)) return std::nullopt;
    }
    return address->coefficient(instance.counter);
}

}  // namespace parpy
