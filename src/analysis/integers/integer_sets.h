// Questions about systems of linear constraints over integers, answered exactly by ISL, to which
// this is the only interface; the caller gives the unknowns their meaning. One object per analysis:
// it owns an ISL context, which must not be shared among threads. Work is bounded: once its thread
// has spent the budget since the object was made, every question is answered by "gave up".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace parpy {

// sum coefficients[i] * x[i] + constant >= 0, or == 0.
struct LinearConstraint {
    std::vector<std::int64_t> coefficients;  // missing ones are 0
    std::int64_t constant = 0;
    bool equality = false;
};
using Conjunction = std::vector<LinearConstraint>;

class IntegerSets {
public:
    static constexpr double kBudgetSeconds = 0.2;

    IntegerSets();
    ~IntegerSets();
    IntegerSets(const IntegerSets&) = delete;
    IntegerSets& operator=(const IntegerSets&) = delete;

    [[nodiscard]] bool exhausted() const;

    enum class Answer : std::uint8_t { kEmpty, kNotEmpty, kGaveUp };

    // Whether the conjunction has an integer point x[0 … dimensions). `least`, if given, receives
    // the lexicographically least one, which must exist if there is any.
    [[nodiscard]] Answer solve(std::size_t dimensions, const Conjunction& constraints,
                               std::vector<std::int64_t>* least = nullptr);

    // The values of x[first … dimensions) for which some x[0 … first) satisfies the conjunction, as
    // a union of conjunctions over these alone (renumbered from 0). Nothing if there is no such
    // union, or if the budget is spent.
    [[nodiscard]] std::optional<std::vector<Conjunction>> project(std::size_t dimensions,
                                                                  std::size_t first,
                                                                  const Conjunction& constraints);

    // Least and greatest value of a linear expression over the integer points, where bounded.
    struct Range {
        std::optional<std::int64_t> low, high;
    };
    [[nodiscard]] Range range(std::size_t dimensions, const Conjunction& constraints,
                              const LinearConstraint& expression);

private:
    bool begin();  // begins a question; false once the budget is spent

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace parpy
