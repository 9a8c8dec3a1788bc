// Value ranges of integer expressions; they decide signs of subscripts, 32-bit narrowing and bounds
// checks. Sound for wrap-around arithmetic: an expression that may overflow has the whole range of
// its type. Loop variables, conditions that guard an expression (`if i > 0: x[i - 1]`) and all
// assignments of a variable are taken into account; relations between variables are not.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>

#include "ir/ir.h"

namespace parpy {

// Both ends included. Only u64 expressions whose values fit i64 are described; any other has the
// range all(), which means "not known" there.
struct Interval {
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] static Interval all() { return {}; }
    [[nodiscard]] static Interval exactly(std::int64_t value) { return {value, value}; }
    // The values of an integer type or bool; all() for any other type.
    [[nodiscard]] static Interval of_type(ir::Scalar scalar);

    [[nodiscard]] bool empty() const { return low > high; }
    [[nodiscard]] bool within(const Interval& other) const {
        return low >= other.low && high <= other.high;
    }
    friend bool operator==(const Interval&, const Interval&) = default;
};

[[nodiscard]] Interval hull(const Interval& a, const Interval& b);
[[nodiscard]] Interval intersection(const Interval& a, const Interval& b);

// Describes the function at the time when the object was made.
class Intervals {
public:
    // No array has more elements along an axis than this: addresses have 47 bits.
    static constexpr std::int64_t kMaxExtent = std::int64_t{1} << 47;

    explicit Intervals(const ir::Function& function);

    // The values of `expr`, a node of the function, at its place. Empty where it is never
    // evaluated. An expression that is not part of the function has the range of its variable, or
    // of its type.
    [[nodiscard]] Interval of(const ir::Expr* expr) const;
    // All values that the variable takes. The value of a loop variable after the last iteration is
    // not included.
    [[nodiscard]] Interval of(const ir::Var* var) const;
    // Gives the values of a variable that was made after this object.
    void learn(const ir::Var* var, Interval values) { of_var_[var] = values; }

private:
    friend class IntervalWalk;
    std::unordered_map<const ir::Expr*, Interval> of_expr_;
    std::unordered_map<const ir::Var*, Interval> of_var_;
};

}  // namespace parpy
