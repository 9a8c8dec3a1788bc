// How often loops run and how far apart in memory their iterations touch an array. The choice of a
// mapping rests on these estimates; no proof does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/memory/accesses.h"
#include "ir/ir.h"

namespace parpy {

class Traffic {
public:
    // The trip count assumed where the call leaves it open.
    static constexpr double kGuessedTrips = 1024;

    explicit Traffic(const Accesses& accesses) : accesses_(accesses) {}

    // Iterations of one execution; the mean over executions if the loops around change the count.
    // If data decide it: the elements to walk through, divided among the executions if each begins
    // where data say (the rows of a sparse matrix), else half of them.
    [[nodiscard]] double trips(const ir::For& loop) const;
    // The most iterations of one execution.
    [[nodiscard]] double most_trips(const ir::For& loop) const;
    // The same as trips(); nothing where the call leaves them open.
    [[nodiscard]] std::optional<double> known_trips(const ir::For& loop) const;
    // Runs of the body of `loop` (an index in Accesses::loops; -1: the function) per call.
    [[nodiscard]] double runs(int loop) const;

    // Bytes between the elements that neighbouring iterations of `loop` touch, all else being
    // equal; nothing if it is not known. Where a row ends (`k // 20`, `k % 20`), the distance may
    // be different.
    [[nodiscard]] std::optional<std::int64_t> stride(const Access& access, int loop) const;

    // Whether every access in `loop`, throughout the loop, stays at its element from one iteration
    // to the next, or moves to a neighbour.
    [[nodiscard]] bool contiguous(const ir::For& loop) const;

private:
    enum class Of : std::uint8_t { kMean, kMost };
    [[nodiscard]] std::optional<double> trips(int loop, Of which) const;
    [[nodiscard]] std::optional<double> estimate(int loop, Of which) const;
    [[nodiscard]] std::optional<std::int64_t> change(const Affine& value, int loop) const;
    [[nodiscard]] std::optional<std::int64_t> change_of_symbol(int number, int loop) const;
    [[nodiscard]] bool jumps(const Affine& value, int loop) const;
    [[nodiscard]] bool depends_on_data(const Affine& value, int depth = 0) const;
    // For how many iterations the arrays that the loop walks through have room, and whether data
    // decide from which element on it does.
    struct Walk {
        double iterations;
        bool from_data;
    };
    [[nodiscard]] std::optional<Walk> walk(int loop) const;
    [[nodiscard]] std::vector<Affine> alternatives(const Affine& value) const;
    [[nodiscard]] std::optional<std::int64_t> most_between_quotients(int symbol, int other) const;
    [[nodiscard]] std::vector<Affine> ends_of(int symbol, std::int64_t sign) const;
    [[nodiscard]] std::optional<double> value_of(const Affine& value, Of which) const;
    struct Range {
        double low, high;  // infinite where the call leaves them open
    };
    [[nodiscard]] Range likely(const Affine& value) const;
    [[nodiscard]] Range likely_range(int symbol) const;
    [[nodiscard]] Range defined_range(int symbol, Range known) const;
    [[nodiscard]] std::optional<Range> range_under(int symbol,
                                                   const std::vector<Condition>& conjunction) const;

    const Accesses& accesses_;
    mutable std::map<std::pair<int, Of>, std::optional<double>> trips_;
    mutable std::map<int, Range> likely_;  // of symbols that have a definition
    mutable int depth_ = 0;                // nesting of the definitions being followed
};

}  // namespace parpy
