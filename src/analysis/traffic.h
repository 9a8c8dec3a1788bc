// How often loops run and how far apart in memory their iterations touch an array: what the choice
// of a mapping rests on. Estimates, for deciding; nothing is proved with them.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/accesses.h"
#include "ir/ir.h"

namespace parpy {

class Traffic {
public:
    // What is assumed of a trip count that the call leaves open.
    static constexpr double kGuessedTrips = 1024;

    explicit Traffic(const Accesses& accesses) : accesses_(accesses) {}

    // Iterations of one execution; the mean of those that depend on loops around.
    [[nodiscard]] double trips(const ir::For& loop) const;
    // How often the body of `loop` (an index in Accesses::loops; -1: the function) runs per call.
    [[nodiscard]] double runs(int loop) const;

    // Bytes between the elements that neighbouring iterations of `loop` touch, all else being
    // equal; nothing if there is no saying.
    [[nodiscard]] std::optional<std::int64_t> stride(const Access& access, int loop) const;

private:
    [[nodiscard]] double trips(int loop) const;

    const Accesses& accesses_;
};

}  // namespace parpy
