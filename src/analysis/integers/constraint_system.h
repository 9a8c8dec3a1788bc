// One question about one or two executions of accesses, put to IntegerSets: collects the conditions
// under which the accesses happen, the definitions of the symbols in them, and the constraints that
// the caller adds; then asks. A "copy" is one of the two executions: a symbol that may differ
// between them has one unknown per copy, any other symbol one in all.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/integers/integer_sets.h"
#include "analysis/memory/accesses.h"

namespace parpy {

class ConstraintSystem {
public:
    // Each copy has its own iterations of `loop` and of the loops inside it; -1: of all loops.
    ConstraintSystem(const Accesses& accesses, int loop) : accesses_(accesses), loop_(loop) {}

    // Adds the execution of an access in this copy. Add the copies in the order of time.
    void happens(const Access& access, int copy);
    // Requires the counter of `loop_` to be smaller in copy 0 than in copy 1.
    void ordered();
    // Adds constant + sum of parts >= 0, or == 0; a part is a factor times a copy's expression.
    struct Part {
        const Affine* value;
        int copy;
        std::int64_t factor = 1;
    };
    void require(const std::vector<Part>& parts, std::int64_t constant, bool equality);

    enum class Outcome : std::uint8_t {
        kNever,
        kSurely,        // exactly these constraints have a solution: see least()
        kForSomeCalls,  // exactly these constraints, but they depend on parameters of the call
        kPerhaps,       // depends on a symbol that is not known
    };
    [[nodiscard]] Outcome solve(IntegerSets& sets);
    // kPerhaps only: a program specialised on its arguments would know more.
    [[nodiscard]] bool general() const { return general_; }
    void assume_inexact(bool general);

    // kSurely: the value of an expression in the first solution.
    [[nodiscard]] std::int64_t value(const Affine& a, int copy) const;
    // kForSomeCalls: conditions on parameter symbols under which there is no solution; nothing if
    // they cannot be written down.
    [[nodiscard]] std::optional<std::vector<Alternatives>> excluded(IntegerSets& sets) const;
    // The range of a linear expression over all solutions.
    [[nodiscard]] IntegerSets::Range range(IntegerSets& sets, const std::vector<Part>& parts) const;

private:
    enum class Rank : std::uint8_t { kCounter, kOther, kParameter };
    struct Unknown {
        int symbol;
        int copy;
        Rank rank;
    };

    std::size_t unknown(int symbol, int copy);
    [[nodiscard]] std::optional<int> condition_around(const Alternatives& guard) const;
    int copy_of(int symbol, int copy) const;
    std::optional<LinearConstraint> row(const std::vector<Part>& parts, std::int64_t constant,
                                        bool equality);
    LinearConstraint row(const Condition& condition, int copy);
    void add(const Alternatives& guard, int copy);
    void bound(int symbol, std::size_t column);
    void keep_near(Conjunction& conjunction) const;
    std::vector<std::size_t> order() const;
    // The system as a union of conjunctions, columns in order().
    std::vector<Conjunction> conjunctions() const;

    const Accesses& accesses_;
    const int loop_;
    std::vector<Unknown> unknowns_;
    std::map<std::pair<int, int>, std::size_t> numbers_;
    Conjunction always_;
    std::vector<std::vector<Conjunction>> choices_;  // one conjunction of each element holds
    // Opaque symbols that only conditions outside of the loop constrain: where the loop runs, each
    // has a value that satisfies them. `added_` is the symbol of the condition that is being added.
    std::set<int> around_;
    std::optional<int> added_;
    bool exact_ = true;
    bool general_ = false;
    bool parameters_ = false;
    std::map<std::pair<int, int>, std::int64_t> solution_;
};

}  // namespace parpy
