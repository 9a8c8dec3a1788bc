// See traffic.h.
#include "analysis/traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/memory/memory_layout.h"

namespace parpy {
namespace {

// If iterations walk along rows (k // 20, k % 20), those of a row are neighbours from this length
// of the row on.
constexpr std::int64_t kShortestRow = 8;

// The end of a range that the call leaves open.
constexpr double kOpen = std::numeric_limits<double>::infinity();
constexpr double kUnbounded = 0x1p31 - 1;  // as far as 32 bits reach
// Chains of definitions are followed to this depth.
constexpr int kDeepest = 50;
constexpr int kDeepestData = 5;  // definitions within each other, where data are looked for

std::size_t index(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

double Traffic::trips(const ir::For& loop) const {
    if (const auto exact = constant_trip_count(loop)) return static_cast<double>(*exact);
    const int number = accesses_.loop_of(&loop);
    return number < 0 ? kGuessedTrips : trips(number, Of::kMean).value_or(kGuessedTrips);
}

double Traffic::most_trips(const ir::For& loop) const {
    return known_trips(loop).value_or(kGuessedTrips);
}

std::optional<double> Traffic::known_trips(const ir::For& loop) const {
    const int number = accesses_.loop_of(&loop);
    return number < 0 ? std::nullopt : trips(number, Of::kMost);
}

// The bounds are conditions c - low >= 0 and high - k c >= 0 on the counter: the mean or greatest
// number of iterations between them. If a bound has several definitions, such as `min(i + 64, n)`,
// the one with the fewest iterations counts.
std::optional<double> Traffic::trips(int loop, Of which) const {
    const auto known = trips_.find({loop, which});
    if (known != trips_.end()) return known->second;
    return trips_[{loop, which}] = estimate(loop, which);
}

std::optional<double> Traffic::estimate(int loop, Of which) const {
    const LoopInstance& instance = accesses_.loops()[index(loop)];
    if (const auto exact = constant_trip_count(*instance.stmt)) return static_cast<double>(*exact);
    std::vector<Affine> above;  // c - low
    for (const Condition& bound : instance.bounds) {
        if (!bound.equality && bound.value.coefficient(instance.counter) == 1)
            above.push_back(bound.value);
    }
    if (above.empty()) above.push_back(Affine::symbol(instance.counter));  // counts from 0
    std::optional<double> best;
    bool open = false;
    for (const Condition& bound : instance.bounds) {
        const std::int64_t factor = -bound.value.coefficient(instance.counter);
        if (bound.equality || factor <= 0) continue;
        for (const Affine& low : above) {
            const auto length = sum(bound.value, low, factor);
            if (!length) continue;
            for (const Affine& alternative : alternatives(*length)) {
                open = open || depends_on_data(alternative);
                if (depends_on_data(alternative, kDeepestData)) continue;  // nothing limits it
                const auto value = value_of(alternative, which);
                if (!value) continue;
                const double count = std::floor(*value / static_cast<double>(factor)) + 1;
                best = std::min(best.value_or(count), count);
            }
        }
    }
    const std::optional<Walk> passed = open ? walk(loop) : std::nullopt;
    if (passed) {
        const double most = passed->iterations;
        // Whether data decide where each execution begins.
        const bool parts =
            passed->from_data || depends_on_data(instance.value) ||
            std::ranges::any_of(above, [&](const Affine& begin) { return depends_on_data(begin); });
        const double count = which == Of::kMost ? most
                             : parts ? std::ceil(most / std::max(1.0, runs(instance.parent)))
                                     : most / 2;
        best = std::min(best.value_or(count), count);
    }
    return best;
}

bool Traffic::depends_on_data(const Affine& value, int depth) const {
    return std::ranges::any_of(value.terms, [&](const auto& term) {
        const Symbol& symbol = accesses_.symbols()[index(term.first)];
        if (symbol.kind == Symbol::Kind::kOpaque) return !symbol.general;
        // Definitions mention their own symbol, too.
        return depth < kDeepestData &&
               std::ranges::any_of(
                   symbol.definition,
                   [&](const Alternatives& alternatives) {
                       return std::ranges::any_of(alternatives, [&](const auto& conjunction) {
                           return std::ranges::any_of(conjunction, [&](const Condition& condition) {
                               return depends_on_data(condition.value, depth + 1);
                           });
                       });
                   });
    });
}

std::optional<Traffic::Walk> Traffic::walk(int loop) const {
    const int counter = accesses_.loops()[index(loop)].counter;
    std::optional<double> least;
    bool from_data = false;
    for (const Access& access : accesses_.all()) {
        const bool known = !access.anywhere && accesses_.inside(access.loop, loop) &&
                           access.array->dims.size() == access.indices.size();
        for (std::size_t axis = 0; known && axis < access.indices.size(); ++axis) {
            const std::int64_t step = access.unwrapped[axis].coefficient(counter);
            const ir::Dim& dim = access.array->dims[axis];
            if (step == 0 || !dim.extent) continue;
            const double fit =
                static_cast<double>(*dim.extent) / std::abs(static_cast<double>(step));
            least = std::min(least.value_or(fit), fit);
            from_data = from_data || depends_on_data(access.unwrapped[axis]);
        }
    }
    return least ? std::optional(Walk{*least, from_data}) : std::nullopt;
}

// `value`, and its upper bounds by definitions of a symbol in it: for `min(i + 64, n) - i` 64 is
// one, while `n - min(i + 64, n)` may exceed the value that any one definition gives.
std::vector<Affine> Traffic::alternatives(const Affine& value) const {
    std::vector<Affine> result = {value};
    // The value of the symbol if the condition holds; nothing if it is no such equality.
    const auto named = [](int symbol, const Condition& condition) -> std::optional<Affine> {
        const std::int64_t own = condition.value.coefficient(symbol);
        if (!condition.equality || (own != 1 && own != -1)) return std::nullopt;
        const auto rest = sum(condition.value, Affine::symbol(symbol), -own);
        return rest ? scaled(*rest, -own) : std::nullopt;
    };
    // Whether a conjunction in which the symbol is `other` implies that this is `bound` at least
    // (sign 1), or at most (sign -1).
    const auto beyond = [&](const std::vector<Condition>& conjunction, const Affine& other,
                            const Affine& bound, std::int64_t sign) {
        const auto apart = sum(other, bound, -1);
        const auto signed_apart = apart ? scaled(*apart, sign) : std::nullopt;
        return std::ranges::any_of(conjunction, [&](const Condition& condition) {
            if (condition.equality || !signed_apart) return false;
            const auto rest = sum(condition.value, *signed_apart, -1);
            return rest && rest->is_constant() && !condition.value.is_constant();
        });
    };
    const auto under = [&](int symbol, std::int64_t coefficient, const Alternatives& definition) {
        for (const auto& conjunction : definition) {
            for (const Condition& condition : conjunction) {
                const auto is = named(symbol, condition);
                if (!is) continue;
                const bool less = std::ranges::any_of(definition, [&](const auto& another) {
                    return std::ranges::any_of(another, [&](const Condition& c) {
                        const auto other = named(symbol, c);
                        return other && *other != *is &&
                               beyond(another, *other, *is, coefficient > 0 ? 1 : -1);
                    });
                });
                const auto made = sum(value, Affine::symbol(symbol), -coefficient);
                const auto with = made && !less ? sum(*made, *is, coefficient) : std::nullopt;
                if (with) result.push_back(*with);
            }
        }
    };
    for (const auto& [symbol, coefficient] : value.terms) {
        for (const Alternatives& definition : accesses_.symbols()[index(symbol)].definition)
            under(symbol, coefficient, definition);
        for (const auto& [other, opposite] : value.terms) {
            const auto most = most_between_quotients(symbol, other);
            if (!most || coefficient <= 0 || opposite != -coefficient) continue;
            const auto first = sum(value, Affine::symbol(symbol), -coefficient);
            const auto rest = first ? sum(*first, Affine::symbol(other), coefficient) : first;
            const auto with = rest ? sum(*rest, Affine::of(*most), coefficient) : rest;
            if (with) result.push_back(*with);
        }
    }
    // Bounds such as `b + 64 - k` with b <= k, where a loop around counts k.
    const std::size_t defined = result.size();
    for (std::size_t i = 0; i < defined; ++i) {
        const Affine from = result[i];
        for (const auto& [symbol, coefficient] : from.terms) {
            for (const Affine& end : ends_of(symbol, coefficient < 0 ? 1 : -1)) {
                const auto rest = sum(from, Affine::symbol(symbol), -coefficient);
                const auto with = rest ? sum(*rest, end, coefficient) : std::nullopt;
                if (with) result.push_back(*with);
            }
        }
    }
    return result;
}

// The greatest difference of two quotients x // c and y // c, where x - y is constant.
std::optional<std::int64_t> Traffic::most_between_quotients(int symbol, int other) const {
    // x of x - c * quotient >= 0.
    const auto dividend = [&](int quotient, std::int64_t& divisor) -> std::optional<Affine> {
        for (const Alternatives& definition : accesses_.symbols()[index(quotient)].definition) {
            if (definition.size() != 1) return std::nullopt;
            for (const Condition& condition : definition.front()) {
                divisor = -condition.value.coefficient(quotient);
                if (condition.equality || divisor <= 0) continue;
                return sum(condition.value, Affine::symbol(quotient), divisor);
            }
        }
        return std::nullopt;
    };
    std::int64_t divisor = 0, same = 0;
    const auto x = dividend(symbol, divisor), y = dividend(other, same);
    const auto apart = x && y && divisor == same ? sum(*x, *y, -1) : std::nullopt;
    if (!apart || !apart->is_constant() || apart->constant < 0) return std::nullopt;
    return apart->constant / divisor + (apart->constant % divisor != 0);
}

// Where the loop that counts `symbol` begins (sign 1) or ends (sign -1), if it is not constant.
std::vector<Affine> Traffic::ends_of(int symbol, std::int64_t sign) const {
    std::vector<Affine> result;
    if (accesses_.symbols()[index(symbol)].kind != Symbol::Kind::kCounter) return result;
    const auto& loops = accesses_.loops();
    const auto loop = std::ranges::find(loops, symbol, &LoopInstance::counter);
    if (loop == loops.end()) return result;
    for (const Condition& bound : loop->bounds) {
        if (bound.equality || bound.value.coefficient(symbol) != sign) continue;
        // sign * (symbol - end) >= 0
        const auto rest = sum(bound.value, Affine::symbol(symbol), -sign);
        const auto end = rest ? scaled(*rest, -sign) : std::nullopt;
        if (end && !end->is_constant()) result.push_back(*end);
    }
    return result;
}

std::optional<double> Traffic::value_of(const Affine& value, Of which) const {
    const Range range = likely(value);
    if (range.low == -kOpen || range.high == kOpen) return std::nullopt;
    const double most = std::max(range.high, 0.0);
    return which == Of::kMost ? most : (std::max(range.low, 0.0) + most) / 2;
}

Traffic::Range Traffic::likely(const Affine& value) const {
    Range sum{static_cast<double>(value.constant), static_cast<double>(value.constant)};
    for (const auto& [symbol, coefficient] : value.terms) {
        const Range range = likely_range(symbol);
        const auto factor = static_cast<double>(coefficient);
        sum.low += factor * (factor > 0 ? range.low : range.high);
        sum.high += factor * (factor > 0 ? range.high : range.low);
    }
    return sum;
}

// Sizes that the call leaves open have their typical values. A counter runs at most as often as its
// loop, which may be less often than each single bound of the loop allows.
Traffic::Range Traffic::likely_range(int number) const {
    const Symbol& symbol = accesses_.symbols()[index(number)];
    if (symbol.var != nullptr && symbol.var->typical != 0) {
        const auto typical = static_cast<double>(symbol.var->typical);
        return {typical, typical};
    }
    Range range{static_cast<double>(symbol.low), static_cast<double>(symbol.high)};
    if (range.low <= -kUnbounded) range.low = -kOpen;
    if (range.high >= kUnbounded) range.high = kOpen;
    if (!symbol.definition.empty()) return defined_range(number, range);
    if (symbol.kind != Symbol::Kind::kCounter) return range;
    const auto& loops = accesses_.loops();
    const auto loop = std::ranges::find(loops, number, &LoopInstance::counter);
    if (loop == loops.end()) return range;
    const auto count = trips(static_cast<int>(loop - loops.begin()), Of::kMost);
    return {range.low, std::min(range.high, count ? std::max(*count - 1, 0.0) : range.high)};
}

// The known range of a quotient of an open value says nothing: it is a fraction of all numbers.
Traffic::Range Traffic::defined_range(int number, Range known) const {
    const auto found = likely_.find(number);
    if (found != likely_.end()) return found->second;
    if (depth_ == kDeepest) return known;
    ++depth_;
    const std::vector<Alternatives>& definition = accesses_.symbols()[index(number)].definition;
    const bool quotient = std::ranges::none_of(definition, [](const Alternatives& alternatives) {
        return std::ranges::any_of(alternatives, [](const auto& conjunction) {
            return std::ranges::any_of(conjunction, &Condition::equality);
        });
    });
    Range range = quotient ? Range{-kOpen, kOpen} : known;
    for (const Alternatives& alternatives : definition) {
        Range any{kOpen, -kOpen};
        for (const auto& conjunction : alternatives) {
            const std::optional<Range> one = range_under(number, conjunction);
            if (!one) continue;
            any = {std::min(any.low, one->low), std::max(any.high, one->high)};
        }
        if (any.low > any.high) continue;
        range = {std::max(range.low, any.low), std::min(range.high, any.high)};
    }
    --depth_;
    if (range.low > range.high) range = known;  // typical values may contradict each other
    return likely_[number] = range;
}

// The range of a symbol under conditions; nothing if they are not likely to hold.
std::optional<Traffic::Range> Traffic::range_under(
    int number, const std::vector<Condition>& conjunction) const {
    Range range{-kOpen, kOpen};
    const auto bound = [&](const Condition& condition) {
        const std::int64_t own = condition.value.coefficient(number);
        const auto rest = sum(condition.value, Affine::symbol(number), -own);
        if (own == 0 || !rest) return;
        const Range others = likely(*rest);
        const auto factor = static_cast<double>(own);
        const bool below = own > 0;  // own * symbol >= -rest
        if (below || condition.equality) {
            const double least = below ? -others.high / factor : others.low / -factor;
            range.low = std::max(range.low, std::ceil(least));
        }
        if (!below || condition.equality) {
            const double most = below ? -others.low / factor : others.high / -factor;
            range.high = std::min(range.high, std::floor(most));
        }
    };
    for (const Condition& condition : conjunction) {
        if (condition.value.coefficient(number) != 0) {
            bound(condition);
            continue;
        }
        if (likely(condition.value).high < 0) return std::nullopt;
        // `b - a >= 0`, where the symbol equals a, bounds it by b.
        for (const Condition& value : conjunction) {
            if (!value.equality) continue;
            for (const std::int64_t sign : {1, -1}) {
                const auto told = sum(condition.value, value.value, sign);
                if (told) bound({*told, condition.equality});
            }
        }
    }
    return range;
}

double Traffic::runs(int loop) const {
    double result = 1;
    for (const int around : accesses_.chain(loop))
        result *= trips(around, Of::kMean).value_or(kGuessedTrips);
    return result;
}

std::optional<std::int64_t> Traffic::stride(const Access& access, int loop) const {
    if (access.anywhere || access.indices.empty()) return std::nullopt;
    std::optional<Affine> address = byte_address(*access.array, access.indices);
    const std::int64_t size = ir::size_in_bytes(access.array->type.scalar);
    if (!address) {
        // If the call leaves strides open, the last axis is assumed to be contiguous.
        for (std::size_t axis = 0; axis + 1 < access.indices.size(); ++axis) {
            if (change(access.indices[axis], loop) != 0) return std::nullopt;
        }
        address = sum(Affine{}, access.indices.back(), size);
        if (!address) return std::nullopt;
    }
    return change(*address, loop);
}

// The usual change from one iteration of `loop` to the next.
std::optional<std::int64_t> Traffic::change(const Affine& value, int loop) const {
    std::int64_t result = 0;
    for (const auto& [symbol, coefficient] : value.terms) {
        const auto by = change_of_symbol(symbol, loop);
        std::int64_t product = 0;
        if (!by || __builtin_mul_overflow(*by, coefficient, &product) ||
            __builtin_add_overflow(result, product, &result))
            return std::nullopt;
    }
    return result;
}

std::optional<std::int64_t> Traffic::change_of_symbol(int number, int loop) const {
    if (number == accesses_.loops()[index(loop)].counter) return 1;
    const Symbol& symbol = accesses_.symbols()[index(number)];
    const bool computed =
        symbol.kind == Symbol::Kind::kOpaque || symbol.kind == Symbol::Kind::kDefined;
    if (!computed || symbol.scope < 0 || !accesses_.inside(symbol.scope, loop)) return 0;
    if (symbol.definition.size() != 1 || symbol.definition[0].size() != 1) return std::nullopt;
    const std::vector<Condition>& conditions = symbol.definition[0][0];
    const std::int64_t own = conditions.front().value.coefficient(number);
    if (!conditions.front().equality) {  // a quotient
        const bool rarely = std::abs(own) >= kShortestRow;
        return rarely ? std::optional(std::int64_t{0}) : std::nullopt;
    }
    if (conditions.size() != 1 || std::abs(own) != 1) return std::nullopt;
    const auto rest = sum(conditions.front().value, Affine::symbol(number), -own);
    const auto by = rest ? change(*rest, loop) : std::nullopt;
    return by ? std::optional(-own * *by) : std::nullopt;
}

// Whether the change varies within `loop`: the value has a quotient or a remainder.
bool Traffic::jumps(const Affine& value, int loop) const {
    return std::ranges::any_of(value.terms, [&](const auto& term) {
        const Symbol& symbol = accesses_.symbols()[index(term.first)];
        return symbol.kind == Symbol::Kind::kDefined && symbol.scope >= 0 &&
               accesses_.inside(symbol.scope, loop);
    });
}

bool Traffic::contiguous(const ir::For& loop) const {
    const int number = accesses_.loop_of(&loop);
    if (number < 0) return false;
    return std::ranges::all_of(accesses_.all(), [&](const Access& access) {
        if (!accesses_.inside(access.loop, number)) return true;
        if (std::ranges::any_of(access.indices,
                                [&](const Affine& index) { return jumps(index, number); }))
            return false;
        const auto apart = stride(access, number);
        const std::int64_t size = size_in_bytes(access.array->type.scalar);
        return apart && (*apart == 0 || *apart == size || *apart == -size);
    });
}

}  // namespace parpy
