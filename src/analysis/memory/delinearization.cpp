// See delinearization.h.
#include "analysis/memory/delinearization.h"

#include <algorithm>
#include <numeric>

#include "analysis/integers/constraint_system.h"

namespace parpy {

namespace {

// The factors of `greater` that remain after those of `less`; nothing if it does not have them all.
std::optional<std::vector<int>> ratio(const std::vector<int>& greater,
                                      const std::vector<int>& less) {
    if (!std::ranges::includes(greater, less)) return std::nullopt;
    std::vector<int> rest;
    std::ranges::set_difference(greater, less, std::back_inserter(rest));
    return rest;
}

std::int64_t divisor_of(const Affine& a, std::int64_t so_far) {
    std::int64_t result = std::gcd(so_far, a.constant);
    for (const auto& [symbol, coefficient] : a.terms)
        result = std::gcd(result, coefficient);
    return result;
}

Affine divided(Affine a, std::int64_t divisor) {
    for (auto& [symbol, coefficient] : a.terms)
        coefficient /= divisor;
    a.constant /= divisor;
    return a;
}

}  // namespace

bool Delinearization::depends_on_counter(int symbol) const {
    const Symbol& of = at(symbol);
    if (of.kind == Symbol::Kind::kCounter) return true;
    for (const Alternatives& alternatives : of.definition) {
        for (const auto& conditions : alternatives) {
            for (const Condition& condition : conditions) {
                for (const auto& [other, coefficient] : condition.value.terms) {
                    if (other < symbol && depends_on_counter(other)) return true;
                }
            }
        }
    }
    return false;
}

void Delinearization::add_multipliers(const Affine& subscript, Factors& multipliers) const {
    for (const auto& [symbol, coefficient] : subscript.terms) {
        for (const int factor : at(symbol).factors) {
            if (!depends_on_counter(factor)) multipliers.push_back(factor);
        }
    }
    std::ranges::sort(multipliers);
    const auto repeated = std::ranges::unique(multipliers);
    multipliers.erase(repeated.begin(), repeated.end());
}

auto Delinearization::split(const Affine& subscript, const Factors& multipliers) const
    -> std::optional<std::map<Factors, Affine>> {
    std::map<Factors, Affine> digits;
    digits[{}].constant = subscript.constant;
    for (const auto& [symbol, coefficient] : subscript.terms) {
        const Factors& product = at(symbol).factors;
        Factors stride;
        Affine value = Affine::of(1);
        for (const int factor : product.empty() ? Factors{symbol} : product) {
            if (std::ranges::binary_search(multipliers, factor)) {
                stride.push_back(factor);
            } else if (value.is_constant()) {
                value = Affine::symbol(factor);
            } else {
                return std::nullopt;
            }
        }
        Affine& digit = digits[stride];
        const auto more = sum(digit, value, coefficient);
        if (!more) return std::nullopt;
        digit = *more;
    }
    return digits;
}

// The strides of both, the greatest first: each is a multiple of the next.
auto Delinearization::ordered(const std::map<Factors, Affine>& a,
                              const std::map<Factors, Affine>& b)
    -> std::optional<std::vector<Factors>> {
    std::vector<Factors> strides;
    for (const auto* digits : {&a, &b}) {
        for (const auto& [stride, digit] : *digits) {
            if (std::ranges::find(strides, stride) == strides.end()) strides.push_back(stride);
        }
    }
    std::ranges::sort(strides, std::ranges::greater(), &Factors::size);
    for (std::size_t i = 1; i < strides.size(); ++i) {
        if (!ratio(strides[i - 1], strides[i])) return std::nullopt;
    }
    return strides;
}

std::vector<Affine> Delinearization::values_of(const Factors& product) const {
    if (product.empty()) return {Affine::of(1)};
    if (product.size() == 1) return {Affine::symbol(product.front())};
    std::vector<Affine> found;
    const auto count = static_cast<int>(accesses_.symbols().size());
    for (int symbol = 0; symbol < count; ++symbol) {
        const int exact = at(symbol).product;
        if (exact >= 0 && at(exact).factors == product) found.push_back(Affine::symbol(symbol));
    }
    return found;
}

// Whether value + constant >= 0 holds for no execution of the access.
bool Delinearization::never(const Access& access, const Affine& value, std::int64_t constant) {
    ConstraintSystem system(accesses_, -1);
    system.happens(access, 0);
    system.require({{&value, 0}}, constant, false);
    return !sets_.exhausted() && system.solve(sets_) == ConstraintSystem::Outcome::kNever;
}

bool Delinearization::is_digit(const Access& access, const Affine& value, const Affine& end) {
    const auto negative = scaled(value, -1), over = sum(value, end, -1);
    return negative && over && never(access, *negative, -1) && never(access, *over, 0);
}

auto Delinearization::prove(const Access& access, Digits digits, const Strides& strides)
    -> std::optional<Digits> {
    for (std::size_t i = digits.size(); i-- > 1;) {
        const auto factors = ratio(strides[i - 1].second, strides[i].second);
        const std::int64_t factor = strides[i - 1].first / strides[i].first;
        const auto proved = [&](const Affine& value) {
            const auto end = scaled(value, factor);
            if (!end) return false;
            if (is_digit(access, digits[i], *end)) return true;
            // -1 is end - 1, and the next digit is less by one.
            const auto more = sum(digits[i], *end), less = sum(digits[i - 1], Affine::of(-1));
            if (!more || !less || !is_digit(access, *more, *end)) return false;
            digits[i] = *more;
            digits[i - 1] = *less;
            return true;
        };
        if (!std::ranges::any_of(values_of(*factors), proved)) return std::nullopt;
    }
    const auto negative = scaled(digits.front(), -1);
    if (!negative || !never(access, *negative, -1)) return std::nullopt;
    return digits;
}

auto Delinearization::bounded(const Access& access, const Digits& digits, const Strides& strides)
    -> const std::optional<Digits>& {
    const auto [place, added] =
        bounded_.try_emplace({access.loop, access.premise, strides, digits});
    if (added) place->second = prove(access, digits, strides);
    return place->second;
}

auto Delinearization::digits(const Access& a, const Access& b, std::size_t axis, int loop)
    -> std::vector<Pair> {
    const Affine& first = a.unwrapped[axis];
    const Affine& second = b.unwrapped[axis];
    if (first == a.indices[axis] && second == b.indices[axis]) return {};
    Factors multipliers;
    add_multipliers(first, multipliers);
    add_multipliers(second, multipliers);
    for (const int symbol : multipliers) {
        const int scope = at(symbol).scope;
        if (scope >= 0 && accesses_.inside(scope, loop)) return {};
    }
    auto one = split(first, multipliers), other = split(second, multipliers);
    if (!one || !other) return {};
    const auto products = ordered(*one, *other);
    if (!products) return {};
    Strides strides;
    Digits digits[2];
    for (const Factors& product : *products) {
        strides.emplace_back(1, product);
        digits[0].push_back((*one)[product]);
        digits[1].push_back((*other)[product]);
    }
    // Constant factors of all digits belong to the stride, if the strides remain multiples.
    for (std::size_t i = strides.size() - 1; i-- > 0;) {
        const std::int64_t factor = divisor_of(digits[0][i], divisor_of(digits[1][i], 0));
        if (factor < 2 || factor % strides[i + 1].first != 0) continue;
        strides[i].first = factor;
        for (Digits& each : digits)
            each[i] = divided(each[i], factor);
    }
    for (std::size_t i = 1; i < strides.size(); ++i) {
        if (strides[i - 1].first % strides[i].first != 0) return {};
    }
    const auto& ours = bounded(a, digits[0], strides);
    if (!ours) return {};
    const auto& theirs = bounded(b, digits[1], strides);
    if (!theirs) return {};
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < strides.size(); ++i)
        pairs.emplace_back((*ours)[i], (*theirs)[i]);
    return pairs;
}

}  // namespace parpy
