// The digits of a loop's counter: the quotients and remainders into which collapsed loops split it,
// i = c // m, j = c % m. Two iterations differ if and only if one of the digits does.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/memory/accesses.h"

namespace parpy {

// The greatest difference of two values of a symbol.
[[nodiscard]] std::uint64_t width_of(const Accesses& accesses, int symbol);

class Digits {
public:
    Digits(const Accesses& accesses, int loop);

    // The greatest difference of two values, per digit; a counter that is never divided is its only
    // digit.
    [[nodiscard]] const std::vector<std::uint64_t>& widths() const { return widths_; }
    // A symbol as a sum of digits, numbered as in widths(); null if there is no such sum.
    [[nodiscard]] const Affine* expansion(int symbol) const {
        const auto found = expansions_.find(symbol);
        return found == expansions_.end() ? nullptr : &found->second;
    }

private:
    void divide(const Accesses& accesses, int quotient, const std::vector<Condition>& definition);
    void add_sum(int symbol, const Affine& zero);

    std::vector<std::uint64_t> widths_;
    std::unordered_map<int, Affine> expansions_;
};

}  // namespace parpy
