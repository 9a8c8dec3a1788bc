// Which parts of a function's arguments are run-time values, and the policy that decides it: what
// keeps changing is generalised, so that no loop recompiles forever. Called for calls that have no
// specialisation yet; the caller holds its lock.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/argument_view.h"

namespace parpy {

// Per position of the arguments.
struct Generality {
    // Programs of small run-time values count in 32 bits; the room above is for sums such as i + 1.
    static constexpr std::int64_t kSmall = (std::int64_t{1} << 31) - (1 << 16);
    struct Position {
        bool value = false;         // a scalar's value
        std::uint16_t extents = 0;  // bit per dimension
        std::uint16_t strides = 0;
        std::int64_t small = kSmall;  // what counts as small here
        [[nodiscard]] bool any() const { return value || extents != 0 || strides != 0; }
        friend bool operator==(const Position&, const Position&) = default;
    };
    std::vector<Position> positions;
    bool any = false;
    bool overlaps = false;  // where arrays that overlap lie is left open
    friend bool operator==(const Generality&, const Generality&) = default;
};

// Of a kernel: the first `general` of `count` arguments are run-time values in every part, from the
// first call. The very first is the number of blocks along x; few are so many that the number of
// threads is small as well.
[[nodiscard]] Generality all_general(std::size_t general, std::size_t count);

// Scalars whose value is never part of what is compiled for.
[[nodiscard]] bool never_fixed(ir::Scalar scalar);

class ArgumentHistory {
public:
    // Distinct values a scalar, extent or stride may take before it becomes a run-time argument.
    static constexpr std::size_t kDistinctValues = 3;

    // Notes the values of a call. True if one of them became a run-time value of `generality`.
    [[nodiscard]] bool note(Arguments arguments, Generality& generality);
    // Everything that had more than one value becomes a run-time value; true if something does.
    [[nodiscard]] bool generalize_all(Generality& generality) const;
    // What is general in `refused` and not in `kept` stays part of what is compiled for.
    void pin(const Generality& refused, const Generality& kept);

private:
    struct Position {
        std::vector<std::uint64_t> values;
        std::vector<std::vector<std::int64_t>> extents, strides;
        Generality::Position pinned;
    };
    // Makes general what `wanted(distinct values)` says of.
    template <class Wanted>
    bool generalize(Generality& generality, const Wanted& wanted) const;

    std::vector<Position> positions_;
};

}  // namespace parpy
