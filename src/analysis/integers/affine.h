// Linear expressions and conditions on numbered symbols, with checked arithmetic. accesses.h
// describes subscripts and iteration domains with them.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace parpy {

// sum coefficient * symbol + constant. Terms are sorted by symbol; no coefficient is zero.
struct Affine {
    std::vector<std::pair<int, std::int64_t>> terms;
    std::int64_t constant = 0;

    [[nodiscard]] static Affine of(std::int64_t value) { return {{}, value}; }
    [[nodiscard]] static Affine symbol(int number) { return {{{number, 1}}, 0}; }
    [[nodiscard]] bool is_constant() const { return terms.empty(); }
    [[nodiscard]] std::int64_t coefficient(int symbol) const;
    friend auto operator<=>(const Affine&, const Affine&) = default;
};

// Nothing if a number does not fit 64 bits.
[[nodiscard]] std::optional<Affine> scaled(const Affine& a, std::int64_t factor);
// a + factor * b
[[nodiscard]] std::optional<Affine> sum(const Affine& a, const Affine& b, std::int64_t factor = 1);

// coefficient * x for integers x with |x| <= width.
struct Spread {
    std::int64_t coefficient = 0;
    std::uint64_t width = std::numeric_limits<std::uint64_t>::max();
};
// Whether factor * d + the sum of `rest` + constant is never 0 for integers d with 1 <= |d| <=
// most; true if there is no such d. The test splits `rest` by size: it holds if no value of the
// small terms and the first one is a multiple of the large ones. This proves the subscripts of
// rows, i * m + j with j < m, apart, in any order of the loops; false: the value may be 0.
[[nodiscard]] bool never_zero(std::int64_t factor, std::uint64_t most, std::vector<Spread> rest,
                              std::int64_t constant);

// value >= 0, or value == 0.
struct Condition {
    Affine value;
    bool equality = false;
    friend auto operator<=>(const Condition&, const Condition&) = default;
};
// One of several conjunctions holds.
using Alternatives = std::vector<std::vector<Condition>>;

}  // namespace parpy
