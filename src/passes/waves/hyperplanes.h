// Hyperplanes for Lamport's method: coefficients h of the loops of a nest such that h · d >= 1 for
// every distance d between conflicting iterations. Iterations with the same h · x are independent;
// those with a smaller value may all run before those with a greater one.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/memory/distances.h"

namespace parpy {

// The loops first … last of a nest, which run as waves, while the loops around them run in order.
struct LoopRange {
    std::size_t first = 0, last = 0;
    [[nodiscard]] std::size_t size() const { return last - first + 1; }
};

inline constexpr std::size_t kMostSkewed = 4;  // loops

struct Hyperplane {
    LoopRange loops;
    std::vector<std::int64_t> coefficients;  // of these loops
    double waves = 0;                        // an estimate

    [[nodiscard]] std::int64_t of(std::size_t loop) const {
        return coefficients[loop - loops.first];
    }
};

// The hyperplane with the fewest waves for these loops, of which `trips` are the numbers of
// iterations by the place in the nest. It has a coefficient of 1 or -1; a single loop of its own
// has the only coefficient if that suffices. Without coefficients if none is found.
[[nodiscard]] Hyperplane best_hyperplane(Distances& distances, LoopRange loops,
                                         const std::vector<double>& trips);

}  // namespace parpy
