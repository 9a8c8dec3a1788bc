// See digits.h.
#include "analysis/integers/digits.h"

#include <optional>

namespace parpy {

std::uint64_t width_of(const Accesses& accesses, int symbol) {
    const Interval values = accesses.range(Affine::symbol(symbol));
    if (values.empty()) return 0;
    const Interval all = Interval::all();
    if (values.low == all.low || values.high == all.high) return Spread{}.width;
    return static_cast<std::uint64_t>(values.high) - static_cast<std::uint64_t>(values.low);
}

Digits::Digits(const Accesses& accesses, int loop) {
    const int counter = accesses.loops()[static_cast<std::size_t>(loop)].counter;
    widths_.push_back(width_of(accesses, counter));
    expansions_.emplace(counter, Affine::symbol(0));
    const std::vector<Symbol>& symbols = accesses.symbols();
    // A definition names earlier symbols only.
    for (int number = counter + 1; number < static_cast<int>(symbols.size()); ++number) {
        const Symbol& symbol = symbols[static_cast<std::size_t>(number)];
        const bool plain = symbol.kind == Symbol::Kind::kDefined && symbol.scope == loop &&
                           symbol.definition.size() == 1 && symbol.definition[0].size() == 1;
        if (!plain) continue;
        const std::vector<Condition>& conditions = symbol.definition[0][0];
        if (conditions.size() == 1 && conditions[0].equality) {
            add_sum(number, conditions[0].value);
        } else if (conditions.size() == 2 && !conditions[0].equality && !conditions[1].equality) {
            divide(accesses, number, conditions);
        }
    }
}

// zero = ± symbol + a sum of other symbols.
void Digits::add_sum(int symbol, const Affine& zero) {
    const std::int64_t own = zero.coefficient(symbol);
    if (own != 1 && own != -1) return;
    Affine result = Affine::of(zero.constant);
    for (const auto& [other, coefficient] : zero.terms) {
        if (other == symbol) continue;
        const Affine* known = expansion(other);
        const auto more = known == nullptr ? std::nullopt : sum(result, *known, coefficient);
        if (!more) return;
        result = *more;
    }
    if (const auto value = scaled(result, -own)) expansions_.emplace(symbol, *value);
}

// 0 <= a - divisor * quotient < divisor: if `a` is a digit, the quotient and the remainder are
// digits in its place.
void Digits::divide(const Accesses& accesses, int quotient,
                    const std::vector<Condition>& definition) {
    const Affine& rest = definition[0].value;
    const std::int64_t divisor = -rest.coefficient(quotient);
    const auto both = sum(rest, definition[1].value);
    if (divisor < 2 || !both || *both != Affine::of(divisor - 1)) return;
    const auto divided = sum(rest, Affine::symbol(quotient), divisor);
    if (!divided || divided->constant != 0 || divided->terms.size() != 1 ||
        divided->terms[0].second != 1) {
        return;
    }
    const Affine* known = expansion(divided->terms[0].first);
    if (known == nullptr || known->constant != 0 || known->terms.size() != 1 ||
        known->terms[0].second != 1) {
        return;
    }
    const int digit = known->terms[0].first, added = static_cast<int>(widths_.size());
    // The remainder becomes the digit in place of the dividend: x = divisor * quotient + remainder.
    auto expansions = expansions_;
    for (auto& [symbol, value] : expansions) {
        std::int64_t factor = 0;
        if (__builtin_mul_overflow(value.coefficient(digit), divisor, &factor)) return;
        const auto changed = sum(value, Affine::symbol(added), factor);
        if (!changed) return;
        value = *changed;
    }
    expansions.emplace(quotient, Affine::symbol(added));
    expansions_ = std::move(expansions);
    widths_[static_cast<std::size_t>(digit)] = static_cast<std::uint64_t>(divisor) - 1;
    widths_.push_back(width_of(accesses, quotient));
}

}  // namespace parpy
