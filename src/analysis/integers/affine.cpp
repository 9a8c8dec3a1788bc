// See affine.h.
#include "analysis/integers/affine.h"

#include <algorithm>
#include <numeric>

#include "analysis/integers/interval_arithmetic.h"

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

bool never_zero(std::int64_t factor, std::uint64_t most, std::vector<Spread> rest,
                std::int64_t constant) {
    constexpr Wide kBeyond = Wide{1} << 120;
    if (most == 0) return true;
    const auto size = [](std::int64_t value) {
        return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    };
    const auto product = [&](std::uint64_t a, std::uint64_t b) {
        return a != 0 && Wide{b} > kBeyond / a ? kBeyond : Wide{a} * b;
    };
    std::ranges::sort(rest, {}, [&](const Spread& term) { return size(term.coefficient); });
    const Wide near = size(factor), far = product(size(factor), most);
    Wide small = 0;  // the terms before `at` add up to this at most, and to its negative
    for (std::size_t at = 0; at <= rest.size() && small < kBeyond; ++at) {
        std::uint64_t step = 0;  // divides the sum of the terms from `at` on
        for (std::size_t i = at; i < rest.size(); ++i)
            step = std::gcd(step, size(rest[i].coefficient));
        const auto misses = [&](Wide low, Wide high) {
            if (step == 0) return low > 0 || high < 0;
            return high - (high % step + step) % step < low;  // the last multiple
        };
        if (misses(constant + near - small, constant + far + small) &&
            misses(constant - far - small, constant - near + small)) {
            return true;
        }
        const std::uint64_t common = std::gcd(step, size(factor));
        if (small == 0 && common != 0 && Wide{constant} % common != 0) return true;
        if (at < rest.size()) small += product(size(rest[at].coefficient), rest[at].width);
    }
    return false;
}

}  // namespace parpy
