// Subscripts that compute with numbers of run time, such as (i * m + j) * n + k, as one digit per
// stride: i for m * n, j for n, and k for 1. Where each digit but the first is proved to be smaller
// than its stride's ratio to the next greater one, equal subscripts have equal digits, which are
// linear. A subscript without products, such as i + h, is its only digit. (Parametric
// delinearization: Grosser, Ramanujam, Pouchet, Sadayappan, Pop, ICS 2015.)
//
// A subscript is taken to be exact: one whose computation exceeds 64 bits is outside of its array.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/integers/integer_sets.h"
#include "analysis/memory/accesses.h"

namespace parpy {

class Delinearization {
public:
    Delinearization(const Accesses& accesses, IntegerSets& sets)
        : accesses_(accesses), sets_(sets) {}

    // The digits of the subscripts of two accesses to one array along `axis`, for the same strides,
    // which do not change inside `loop`: where both accesses touch one element, the digits of each
    // pair are equal, and the reverse. Empty if there are none.
    using Pair = std::pair<Affine, Affine>;
    [[nodiscard]] std::vector<Pair> digits(const Access& a, const Access& b, std::size_t axis,
                                           int loop);

private:
    using Factors = std::vector<int>;  // symbols, sorted; their product is the stride
    using Strides = std::vector<std::pair<std::int64_t, Factors>>;  // with constant factors
    using Digits = std::vector<Affine>;

    [[nodiscard]] const Symbol& at(int symbol) const {
        return accesses_.symbols()[static_cast<std::size_t>(symbol)];
    }
    bool depends_on_counter(int symbol) const;
    void add_multipliers(const Affine& subscript, Factors& multipliers) const;
    // The subscript as digits of products of `multipliers`.
    std::optional<std::map<Factors, Affine>> split(const Affine& subscript,
                                                   const Factors& multipliers) const;
    static std::optional<std::vector<Factors>> ordered(const std::map<Factors, Affine>& a,
                                                       const std::map<Factors, Affine>& b);
    // Values that may stand for the product of the factors in bounds of loops.
    std::vector<Affine> values_of(const Factors& product) const;
    // The digits such that none is negative and each but the first is smaller than its stride's
    // ratio to the one before; nothing if this is not proved.
    const std::optional<Digits>& bounded(const Access& access, const Digits& digits,
                                         const Strides& strides);
    std::optional<Digits> prove(const Access& access, Digits digits, const Strides& strides);
    bool is_digit(const Access& access, const Affine& value, const Affine& end);
    bool never(const Access& access, const Affine& value, std::int64_t constant);

    const Accesses& accesses_;
    IntegerSets& sets_;
    // By the loop and the premise of the access, the conditions under which it happens.
    std::map<std::tuple<int, const Premise*, Strides, Digits>, std::optional<Digits>> bounded_;
};

}  // namespace parpy
