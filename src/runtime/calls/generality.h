// Which parts of a function's arguments are run-time values, and the policy that decides it: values
// that keep changing are generalised, so that no loop recompiles forever. Used for calls that have
// no specialisation yet; the caller holds its lock.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/calls/argument_view.h"

namespace parpy {

// The run-time parts, by position of the argument.
struct Generality {
    // Programs of small run-time values count in 32 bits; the margin is for sums such as i + 1.
    static constexpr std::int64_t kSmall = (std::int64_t{1} << 31) - (1 << 16);
    struct Position {
        bool value = false;         // a scalar's value
        std::uint16_t extents = 0;  // bit per dimension
        std::uint16_t strides = 0;
        std::int64_t small = kSmall;  // the greatest magnitude of a small value
        [[nodiscard]] bool any() const { return value || extents != 0 || strides != 0; }
        friend bool operator==(const Position&, const Position&) = default;
    };
    std::vector<Position> positions;
    bool any = false;
    bool overlaps = false;  // the places of overlapping arrays are left open
    bool by_size = false;   // each program is for run-time values of one SizeClass
    friend bool operator==(const Generality&, const Generality&) = default;
};

// Integers between two powers of 16: mappings depend on trip counts, which need not be known more
// exactly. The first class includes all smaller integers, the last all larger ones.
class SizeClass {
public:
    explicit SizeClass(std::int64_t value) {
        const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
        number_ = value < 16 ? 0 : std::min(kLast, (bits - 1) / 4);
    }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] std::int64_t typical() const { return std::int64_t{4} << (4 * number_); }
    [[nodiscard]] std::int64_t least() const {
        return number_ == 0 ? std::numeric_limits<std::int64_t>::min() : typical() / 4;
    }
    [[nodiscard]] std::int64_t most() const {
        return number_ == kLast ? std::numeric_limits<std::int64_t>::max() : typical() * 4 - 1;
    }

private:
    static constexpr int kLast = 11;
    int number_ = 0;
};

// The generality of kernels: every part of the first `general` of `count` arguments is a run-time
// first call on. Argument 0 is gridDim.x, which is small only if the total number of threads fits
// 32 bits too.
[[nodiscard]] Generality all_general(std::size_t general, std::size_t count);

// Scalars whose value is never compiled into a program.
[[nodiscard]] bool never_fixed(ir::Scalar scalar);

class ArgumentHistory {
public:
    // The number of values of a scalar, extent or stride before it becomes a run-time value.
    static constexpr std::size_t kDistinctValues = 3;

    // Records the values of a call. True if one of them became a run-time value of `generality`.
    [[nodiscard]] bool note(Arguments arguments, Generality& generality);
    // Makes everything with more than one value a run-time value; true if that changes anything.
    [[nodiscard]] bool generalize_all(Generality& generality) const;
    // Parts that are general in `refused` and not in `kept` stay fixed from now on.
    void pin(const Generality& refused, const Generality& kept);

private:
    struct Position {
        std::vector<std::uint64_t> values;
        std::vector<std::vector<std::int64_t>> extents, strides;
        Generality::Position pinned;
    };
    // Makes general every part for which `wanted(number of distinct values)` holds.
    template <class Wanted>
    bool generalize(Generality& generality, const Wanted& wanted) const;

    std::vector<Position> positions_;
};

}  // namespace parpy
