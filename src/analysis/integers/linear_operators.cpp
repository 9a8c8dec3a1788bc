// The operators of linear_values.h: linear results, and new symbols with exact definitions.
#include <algorithm>
#include <bit>

#include "analysis/integers/intervals.h"
#include "analysis/integers/linear_values.h"

namespace parpy {

using namespace ir;

Guard Guard::of(Condition condition) {
    Guard guard;
    guard.all.push_back({{std::move(condition)}});
    return guard;
}

std::optional<Alternatives> Guard::disjunction() const {
    Alternatives result = {{}};
    for (const Alternatives& guard : all) {
        if (result.size() * guard.size() > kMostAlternatives) return std::nullopt;
        Alternatives product;
        for (const auto& left : result) {
            for (const auto& right : guard) {
                auto& both = product.emplace_back(left);
                both.insert(both.end(), right.begin(), right.end());
            }
        }
        result = std::move(product);
    }
    return result;
}

std::optional<Affine> LinearValues::linear(const Expr& e, const std::vector<Affine>& operands) {
    const Affine& a = operands[0];
    const Affine& b = operands.back();
    const auto constant = [](const Affine& x) {
        return x.is_constant() ? std::optional(x.constant) : std::nullopt;
    };
    const auto shift = [&]() -> std::optional<std::int64_t> {
        const bool small = b.is_constant() && b.constant >= 0 && b.constant < 62 &&
                           b.constant < 8 * size_in_bytes(e.type.scalar);
        return small ? std::optional(std::int64_t{1} << b.constant) : std::nullopt;
    };
    switch (e.op) {
        case Op::kPos:
        case Op::kConvert:
            return a;
        case Op::kNeg:
            return scaled(a, -1);
        case Op::kAdd:
            return sum(a, b);
        case Op::kSub:
            return sum(a, b, -1);
        case Op::kMul:
            if (const auto factor = constant(b)) return scaled(a, *factor);
            if (const auto factor = constant(a)) return scaled(b, *factor);
            return std::nullopt;
        case Op::kFloorDiv:
        case Op::kQuotient:
            return constant(b) ? quotient(a, *constant(b)) : std::nullopt;
        case Op::kMod:
        case Op::kRemainder:
            return constant(b) ? remainder(a, *constant(b)) : std::nullopt;
        case Op::kShl:
            return shift() ? scaled(a, *shift()) : std::nullopt;
        case Op::kShr:
            return shift() ? quotient(a, *shift()) : std::nullopt;
        case Op::kBitAnd: {
            const bool mask = b.is_constant() && b.constant >= 0 &&
                              b.constant < std::int64_t{1} << 61 &&
                              std::has_single_bit(static_cast<std::uint64_t>(b.constant) + 1);
            return mask ? remainder(a, b.constant + 1) : std::nullopt;
        }
        case Op::kAbs: {
            const auto negative = scaled(a, -1);
            return negative ? chosen(Op::kMax, a, *negative) : std::nullopt;
        }
        case Op::kMin:
        case Op::kMinimum:
        case Op::kFmin:
            return chosen(Op::kMin, a, b);
        case Op::kMax:
        case Op::kMaximum:
        case Op::kFmax:
            return chosen(Op::kMax, a, b);
        case Op::kIndex: {
            const auto from_end = sum(a, b);
            if (range(a).low >= 0) return a;
            if (!from_end) return std::nullopt;
            if (range(a).high < 0) return from_end;
            const auto negative = sum(Affine::of(-1), a, -1);
            if (!negative) return std::nullopt;
            return either(Guard::of({a}), a, Guard::of({*negative}), *from_end);
        }
        default:
            return std::nullopt;
    }
}

std::optional<Affine> LinearValues::quotient(const Affine& a, std::int64_t divisor) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 61;
    if (divisor == 1) return a;
    if (divisor == 0 || divisor > kLargest || divisor < -kLargest) return std::nullopt;
    if (divisor < 0) {
        const auto negative = scaled(a, -1);
        return negative ? quotient(*negative, -divisor) : std::nullopt;
    }
    const WideInterval values = range(a);
    if (values.low >= 0 && values.high < divisor) return Affine::of(0);
    const auto floor = [&](Wide x) {
        const Wide q = x / divisor - (x % divisor < 0 ? 1 : 0);
        return static_cast<std::int64_t>(
            std::clamp<Wide>(q, Interval::all().low, Interval::all().high));
    };
    const int number = static_cast<int>(symbols_.size());
    // divisor * q <= a <= divisor * q + divisor - 1
    const auto rest = sum(a, Affine::symbol(number), -divisor);
    const auto left = rest ? sum(Affine::of(divisor - 1), *rest, -1) : std::nullopt;
    if (!left) return std::nullopt;
    return shared({static_cast<int>(Op::kFloorDiv), nullptr, {a, Affine::of(divisor)}},
                  [&](Symbol& symbol, int) {
                      symbol.kind = Symbol::Kind::kDefined;
                      symbol.low = floor(values.low);
                      symbol.high = floor(values.high);
                      symbol.definition.push_back({{{*rest}, {*left}}});
                  });
}

std::optional<Affine> LinearValues::remainder(const Affine& a, std::int64_t divisor) {
    const WideInterval values = range(a);
    if (divisor > 0 && values.low >= 0 && values.high < divisor) return a;
    const auto whole = quotient(a, divisor);
    const auto value = whole ? sum(a, *whole, -divisor) : std::nullopt;
    if (!value) return std::nullopt;
    const auto equal = sum(*value, Affine::symbol(static_cast<int>(symbols_.size())), -1);
    if (!equal) return std::nullopt;
    return shared({static_cast<int>(Op::kMod), nullptr, {a, *whole, Affine::of(divisor)}},
                  [&](Symbol& symbol, int) {
                      symbol.kind = Symbol::Kind::kDefined;
                      symbol.low = divisor > 0 ? 0 : divisor + 1;
                      symbol.high = divisor > 0 ? divisor - 1 : 0;
                      symbol.definition.push_back({{{*equal, true}}});
                  });
}

std::optional<Affine> LinearValues::chosen(Op op, const Affine& a, const Affine& b) {
    const auto less = sum(b, a, -1);  // b - a
    if (!less) return std::nullopt;
    const WideInterval difference = range(*less);
    if (difference.low >= 0) return op == Op::kMin ? a : b;
    if (difference.high <= 0) return op == Op::kMin ? b : a;
    const auto more = sum(Affine::of(-1), *less, -1);  // a - b - 1
    if (!more) return std::nullopt;
    const Guard first = Guard::of({*less}), second = Guard::of({*more});
    return op == Op::kMin ? either(first, a, second, b) : either(first, b, second, a);
}

std::optional<Affine> LinearValues::either(const Guard& yes, const Affine& a, const Guard& no,
                                           const Affine& b, bool beyond_64_bits) {
    if (a == b) return a;
    if (!yes.exact || !no.exact) return std::nullopt;
    const auto when = yes.disjunction(), otherwise = no.disjunction();
    if (!when || !otherwise || when->size() + otherwise->size() > Guard::kMostAlternatives) {
        return std::nullopt;
    }
    const WideInterval x = range(a), y = range(b);
    const Interval all = Interval::all();
    const Wide low = std::min(x.low, y.low), high = std::max(x.high, y.high);
    if (!beyond_64_bits && (low < all.low || high > all.high)) return std::nullopt;
    const int number = static_cast<int>(symbols_.size());
    Symbol symbol;
    symbol.kind = Symbol::Kind::kDefined;
    symbol.low = static_cast<std::int64_t>(std::max<Wide>(low, all.low));
    symbol.high = static_cast<std::int64_t>(std::min<Wide>(high, all.high));
    Alternatives& alternatives = symbol.definition.emplace_back();
    const auto add = [&](const Alternatives& conditions, const Affine& value) {
        const auto equal = sum(value, Affine::symbol(number), -1);
        for (const auto& each : conditions) {
            auto& both = alternatives.emplace_back(each);
            both.push_back({*equal, true});
            for (const Condition& c : both) {
                for (const auto& [other, coefficient] : c.value.terms) {
                    if (other == number) continue;
                    const int scope = symbols_[static_cast<std::size_t>(other)].scope;
                    symbol.scope = std::max(symbol.scope, scope);
                }
            }
        }
    };
    add(*when, a);
    add(*otherwise, b);
    return Affine::symbol(make(std::move(symbol)));
}

// ---------------------------------------------------------------- beyond 64 bits

Affine LinearValues::defined(const Affine& a) {
    return shared({static_cast<int>(Op::kPos), nullptr, {a}}, [&](Symbol& symbol, int number) {
        const Interval values = narrowed(range(a));
        symbol.kind = Symbol::Kind::kDefined;
        symbol.low = values.low;
        symbol.high = values.high;
        symbol.definition.push_back({{{*sum(a, Affine::symbol(number), -1), true}}});
    });
}

Affine LinearValues::any_scaled(const Affine& a, Wide factor) {
    if (factor > Interval::all().high) {
        return any_sum(any_scaled(any_scaled(a, factor / 2), 2), any_scaled(a, factor % 2));
    }
    const auto small = static_cast<std::int64_t>(factor);
    const auto product = scaled(a, small);
    return product ? *product : *scaled(defined(a), small);
}

std::optional<Wide> LinearValues::factor(const Affine& a) const {
    if (a.is_constant()) return a.constant;
    const auto found = large_.find(a.terms.front().first);
    const bool alone = found != large_.end() && a == Affine::symbol(found->first);
    return alone ? std::optional(Wide{found->second}) : std::nullopt;
}

Affine LinearValues::any_sum(const Affine& a, const Affine& b, std::int64_t factor) {
    const auto whole = sum(a, b, factor);
    return whole ? *whole : *sum(defined(a), defined(b), factor);
}

Affine LinearValues::unwrapped(const Affine& a) {
    const auto wrapped = [&](const auto& term) { return unwrapped_.contains(term.first); };
    if (std::ranges::none_of(a.terms, wrapped)) return a;
    Affine result = Affine::of(a.constant);
    for (const auto& [symbol, coefficient] : a.terms) {
        const auto found = unwrapped_.find(symbol);
        const Affine value = found == unwrapped_.end() ? Affine::symbol(symbol) : found->second;
        result = any_sum(result, any_scaled(value, coefficient));
    }
    return result;
}

// Only operators whose result modulo 2^64 is the same for wrapped and unwrapped operands.
std::optional<Affine> LinearValues::unwrapped(const Expr& e, const std::vector<Affine>& operands) {
    const Affine a = unwrapped(operands[0]), b = unwrapped(operands.back());
    switch (e.op) {
        case Op::kPos:
            return a;
        case Op::kConvert:
            return size_in_bytes(e.operands[0]->type.scalar) == 8 ? std::optional(a) : std::nullopt;
        case Op::kNeg:
            return any_scaled(a, -1);
        case Op::kAdd:
            return any_sum(a, b);
        case Op::kSub:
            return any_sum(a, b, -1);
        case Op::kMul:
            if (const auto by = factor(operands.back())) return any_scaled(a, *by);
            if (const auto by = factor(operands[0])) return any_scaled(b, *by);
            return e.type.scalar == Scalar::kI64 ? product(a, b) : std::nullopt;
        case Op::kShl:
            if (!b.is_constant() || b.constant < 0 || b.constant > 62) return std::nullopt;
            return any_scaled(a, std::int64_t{1} << b.constant);
        case Op::kIndex: {
            if (a == operands[0]) return std::nullopt;
            if (mentions_opaque(a)) return a;
            const Affine from_end = any_sum(a, b), negative = any_sum(Affine::of(-1), a, -1);
            const WideInterval values = range(a);
            if (values.low >= 0) return a;
            if (values.high < 0) return from_end;
            return either(Guard::of({a}), a, Guard::of({negative}), from_end, true);
        }
        default:
            return std::nullopt;
    }
}

bool LinearValues::has_product(const Affine& a) const {
    return std::ranges::any_of(a.terms, [&](const auto& term) {
        return !symbols_[static_cast<std::size_t>(term.first)].factors.empty();
    });
}

std::optional<Affine> LinearValues::product(const Affine& a, const Affine& b) {
    constexpr std::size_t kMostTerms = 8, kMostFactors = 6;
    const auto factors_of = [&](int symbol) {
        const std::vector<int>& factors = symbols_[static_cast<std::size_t>(symbol)].factors;
        return factors.empty() ? std::vector<int>{symbol} : factors;
    };
    if ((a.terms.size() + 1) * (b.terms.size() + 1) > kMostTerms + 1) return std::nullopt;
    Affine result = any_sum(any_scaled(a, b.constant), any_scaled(b, a.constant));
    result = any_sum(result, any_scaled(Affine::of(a.constant), b.constant), -1);
    for (const auto& [left, first] : a.terms) {
        for (const auto& [right, second] : b.terms) {
            std::vector<int> factors = factors_of(left);
            std::ranges::copy(factors_of(right), std::back_inserter(factors));
            if (factors.size() > kMostFactors) return std::nullopt;
            std::ranges::sort(factors);
            std::vector<Affine> key;
            for (const int factor : factors)
                key.push_back(Affine::symbol(factor));
            const Affine symbol =
                shared({static_cast<int>(Op::kMul), nullptr, key}, [&](Symbol& made, int) {
                    made.kind = Symbol::Kind::kOpaque;
                    made.low = Interval::all().low;
                    made.high = Interval::all().high;
                    made.general = mentions_general(a) || mentions_general(b);
                    made.factors = factors;
                });
            result = any_sum(result, any_scaled(any_scaled(symbol, first), second));
        }
    }
    return result;
}

// high * 2^32 + low, of 32 bits each, such that a - high * 2^32 - low is a multiple of 2^64.
Affine LinearValues::modulo_2_64(const Affine& a) {
    constexpr std::int64_t kHalf = std::int64_t{1} << 32;
    const auto symbol = [&](std::int64_t least, std::int64_t most) {
        Symbol made;
        made.kind = Symbol::Kind::kDefined;
        made.scope = scope_of(a);
        made.low = least;
        made.high = most;
        return Affine::symbol(make(std::move(made)));
    };
    const Interval all = Interval::all();
    const Affine times = symbol(all.low, all.high), high = symbol(0, kHalf - 1);
    const Affine low = symbol(0, kHalf - 1);
    const Affine value = *sum(*scaled(high, kHalf), low);
    const Affine whole = any_scaled(defined(*scaled(times, kHalf)), kHalf);
    std::vector<Condition> conditions = {{any_sum(any_sum(a, value, -1), whole, -1), true}};
    for (const Affine& part : {high, low}) {
        conditions.push_back({part});
        conditions.push_back({*sum(Affine::of(kHalf - 1), part, -1)});
    }
    symbols_[static_cast<std::size_t>(low.terms.front().first)].definition.push_back({conditions});
    return value;
}

void LinearValues::remember(const Affine& value, const std::optional<Affine>& unwrapped,
                            Scalar type) {
    if (size_in_bytes(type) != 8 || !unwrapped) return;
    const int number = value.terms.front().first;
    if (type != Scalar::kI64 && mentions_opaque(*unwrapped)) return;
    unwrapped_.emplace(number, type == Scalar::kU64 ? modulo_2_64(*unwrapped) : *unwrapped);
    const bool is_product = has_product(*unwrapped) && unwrapped->terms.size() == 1 &&
                            *unwrapped == Affine::symbol(unwrapped->terms.front().first);
    if (is_product)
        symbols_[static_cast<std::size_t>(number)].product = unwrapped->terms.front().first;
}

}  // namespace parpy
