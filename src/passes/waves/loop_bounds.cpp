// See loop_bounds.h.
#include "passes/waves/loop_bounds.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "analysis/uses.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::size_t kMostInequalities = 64;
constexpr std::int64_t kMostFactor = 256;  // products with sizes stay within 64 bits

// The innermost loop of the inequality; -1: none.
int innermost(const LoopInequality& inequality) {
    for (std::size_t i = inequality.by_loop.size(); i-- > 0;) {
        if (inequality.by_loop[i] != 0) return static_cast<int>(i);
    }
    return -1;
}

// factor * a + times * b, divided by the greatest common divisor of its coefficients: over integers
// the constant may be rounded down. Nothing if numbers are large.
std::optional<LoopInequality> combined(const LoopInequality& a, std::int64_t factor,
                                       const LoopInequality& b, std::int64_t times) {
    LoopInequality sum;
    std::int64_t divisor = 0;
    for (std::size_t i = 0; i < a.by_loop.size(); ++i) {
        sum.by_loop.push_back(factor * a.by_loop[i] + times * b.by_loop[i]);
        divisor = std::gcd(divisor, sum.by_loop.back());
    }
    Linear rest;
    bool fits = true;
    const auto add = [&](const Linear& part, std::int64_t by) {
        std::int64_t product = 0;
        fits = fits && !__builtin_mul_overflow(part.constant, by, &product) &&
               !__builtin_add_overflow(rest.constant, product, &rest.constant);
        Linear negative;  // `rest - negative` merges equal terms
        for (const auto& [term, coefficient] : part.terms)
            negative.terms.emplace_back(term, -by * coefficient);
        rest = rest - negative;
    };
    add(a.rest, factor);
    add(b.rest, times);
    for (const auto& [term, coefficient] : rest.terms)
        divisor = std::gcd(divisor, coefficient);
    if (!fits) return std::nullopt;
    if (divisor > 1) {
        for (std::int64_t& each : sum.by_loop)
            each /= divisor;
        for (auto& [term, coefficient] : rest.terms)
            coefficient /= divisor;
        const std::int64_t whole = rest.constant / divisor;
        rest.constant = whole - (rest.constant % divisor < 0 ? 1 : 0);
    }
    sum.rest = std::move(rest);
    const auto large = [](std::int64_t x) { return std::abs(x) > kMostFactor; };
    const bool any_large =
        std::ranges::any_of(sum.by_loop, large) ||
        std::ranges::any_of(sum.rest.terms, [&](const auto& term) { return large(term.second); });
    return any_large ? std::nullopt : std::optional(std::move(sum));
}

// Inequalities as constraints: the variables of the loops come first, then the terms.
class Constraints {
public:
    explicit Constraints(std::size_t loops) : loops_(loops) {}

    // Whether `others` imply `inequality`.
    bool implied(const LoopInequality& inequality,
                 const std::vector<const LoopInequality*>& others) {
        Conjunction all = {row(inequality)};
        for (std::int64_t& coefficient : all.front().coefficients)
            coefficient = -coefficient;
        if (__builtin_sub_overflow(std::int64_t{-1}, all.front().constant, &all.front().constant))
            return false;
        for (const LoopInequality* other : others)
            all.push_back(row(*other));
        return sets_.solve(loops_ + terms_.size(), all) == IntegerSets::Answer::kEmpty;
    }

private:
    LinearConstraint row(const LoopInequality& inequality) {
        LinearConstraint result{inequality.by_loop, inequality.rest.constant, false};
        for (const auto& [term, coefficient] : inequality.rest.terms) {
            const auto known =
                std::ranges::find_if(terms_, [&](const Expr* each) { return same(*each, *term); });
            const auto column = loops_ + static_cast<std::size_t>(known - terms_.begin());
            if (known == terms_.end()) terms_.push_back(term);
            if (result.coefficients.size() <= column) result.coefficients.resize(column + 1);
            result.coefficients[column] = coefficient;
        }
        return result;
    }

    IntegerSets sets_;
    const std::size_t loops_;
    std::vector<const Expr*> terms_;
};

}  // namespace

Expr* expression(IndexMath& math, const WeightedSum& sum) {
    std::int64_t constant = sum.constant;
    Expr* total = nullptr;
    for (const bool positive : {true, false}) {
        for (const auto& [term, factor] : sum.terms) {
            if (factor == 0 || (factor > 0) != positive) continue;
            Expr* part = math.multiply(term, math.number(std::abs(factor)));
            if (total == nullptr && !positive) total = math.number(std::exchange(constant, 0));
            total = total == nullptr ? part
                    : !positive      ? math.subtract(total, part)
                                     : math.add(total, part);
        }
    }
    return total == nullptr ? math.number(constant) : math.add(total, math.number(constant));
}

bool LoopBounds::eliminate(std::size_t loops, std::vector<LoopInequality> inequalities) {
    std::vector<bool> derived(inequalities.size(), false);
    for (std::size_t loop = loops; loop-- > 1;) {
        const std::size_t count = inequalities.size();
        const auto here = [&](std::size_t i) {
            return innermost(inequalities[i]) == static_cast<int>(loop);
        };
        for (std::size_t low = 0; low < count; ++low) {
            for (std::size_t high = 0; high < count; ++high) {
                if (!here(low) || !here(high)) continue;
                const std::int64_t up = inequalities[low].by_loop[loop];
                const std::int64_t down = inequalities[high].by_loop[loop];
                if (up <= 0 || down >= 0) continue;
                auto sum = combined(inequalities[low], -down, inequalities[high], up);
                if (!sum || inequalities.size() == kMostInequalities) return false;
                if (innermost(*sum) < 0) continue;  // not about a loop
                inequalities.push_back(std::move(*sum));
                derived.push_back(true);
            }
        }
    }
    // Derived bounds only spare empty iterations, so they are the first to be left out.
    Constraints constraints(loops);
    std::vector<bool> kept(inequalities.size(), true);
    for (const bool of_derived : {true, false}) {
        for (std::size_t i = inequalities.size(); i-- > 0;) {
            if (derived[i] != of_derived) continue;
            const int loop = innermost(inequalities[i]);
            if (loop < 0) continue;
            std::vector<const LoopInequality*> others;
            bool last = true;  // the only bound of its loop at this end
            for (std::size_t j = 0; j < inequalities.size(); ++j) {
                if (j == i || !kept[j] || innermost(inequalities[j]) > loop) continue;
                others.push_back(&inequalities[j]);
                const auto place = static_cast<std::size_t>(loop);
                const auto begins = [&](std::size_t k) {
                    return inequalities[k].by_loop[place] > 0;
                };
                last = last && (innermost(inequalities[j]) != loop || begins(i) != begins(j));
            }
            kept[i] = last || !constraints.implied(inequalities[i], others);
        }
    }
    of_.assign(loops, {});
    for (std::size_t i = 0; i < inequalities.size(); ++i) {
        const int loop = innermost(inequalities[i]);
        if (loop < 0) return false;  // it would need a condition around the nest
        if (kept[i]) of_[static_cast<std::size_t>(loop)].push_back(std::move(inequalities[i]));
    }
    return true;
}

LoopBounds::Ends LoopBounds::ends(Builder& builder, std::size_t loop,
                                  const std::vector<Var*>& variables) const {
    IndexMath math(builder, Scalar::kI64);
    Ends ends;
    for (const LoopInequality& each : of_[loop]) {
        // c * x + others >= 0: x >= (c - 1 - others) // c, or x < (others - c) // -c.
        const std::int64_t c = each.by_loop[loop];
        const std::int64_t sign = c > 0 ? -1 : 1;
        WeightedSum sum{{}, sign * each.rest.constant + (c > 0 ? c - 1 : -c)};
        for (std::size_t i = 0; i < loop; ++i)
            sum.terms.emplace_back(builder.var(variables[i]), sign * each.by_loop[i]);
        for (const auto& [term, coefficient] : each.rest.terms)
            sum.terms.emplace_back(math.copy(*term), sign * coefficient);
        Expr* bound = math.divide(expression(math, sum), math.number(std::abs(c)));
        Expr*& end = c > 0 ? ends.begin : ends.end;
        end = end == nullptr ? bound : c > 0 ? math.greatest(end, bound) : math.least(end, bound);
    }
    return ends;
}

}  // namespace parpy
