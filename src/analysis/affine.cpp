// See affine.h.
#include "analysis/affine.h"

#include <algorithm>

namespace parpy {

std::int64_t Affine::coefficient(int symbol) const {
    const auto found =
        std::ranges::lower_bound(terms, symbol, {}, [](const auto& term) { return term.first; });
    return found != terms.end() && found->first == symbol ? found->second : 0;
}

std::optional<Affine> scaled(const Affine& a, std::int64_t factor) {
    return sum(Affine{}, a, factor);
}

std::optional<Affine> sum(const Affine& a, const Affine& b, std::int64_t factor) {
    Affine result;
    const auto combine = [&](std::int64_t x, std::int64_t y, std::int64_t& out) {
        std::int64_t product = 0;
        return !__builtin_mul_overflow(y, factor, &product) &&
               !__builtin_add_overflow(x, product, &out);
    };
    if (!combine(a.constant, b.constant, result.constant)) return std::nullopt;
    auto x = a.terms.begin();
    auto y = b.terms.begin();
    while (x != a.terms.end() || y != b.terms.end()) {
        const bool from_a = y == b.terms.end() || (x != a.terms.end() && x->first <= y->first);
        const bool from_b = x == a.terms.end() || (y != b.terms.end() && y->first <= x->first);
        const int symbol = from_a ? x->first : y->first;
        std::int64_t value = 0;
        if (!combine(from_a ? x->second : 0, from_b ? y->second : 0, value)) return std::nullopt;
        if (value != 0) result.terms.emplace_back(symbol, value);
        if (from_a) ++x;
        if (from_b) ++y;
    }
    return result;
}

}  // namespace parpy
