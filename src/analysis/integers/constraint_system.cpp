// See constraint_system.h. Unknowns are ordered so that the least solution is the first in time:
// loop counters from the outside in, those of copy 0 before those of copy 1; parameters last, as
// projecting out everything else keeps them.
#include "analysis/integers/constraint_system.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace parpy {

namespace {

constexpr std::size_t kMostConjunctions = 32;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr Wide kHuge = Wide{1} << 125;

}  // namespace

int ConstraintSystem::copy_of(int symbol, int copy) const {
    const int scope = accesses_.symbols()[static_cast<std::size_t>(symbol)].scope;
    if (scope < 0) return 0;
    return loop_ < 0 || accesses_.inside(scope, loop_) ? copy : 0;
}

std::size_t ConstraintSystem::unknown(int symbol, int copy) {
    copy = copy_of(symbol, copy);
    const auto [place, is_new] = numbers_.try_emplace({symbol, copy}, unknowns_.size());
    const std::size_t number = place->second;
    const Symbol& of = accesses_.symbols()[static_cast<std::size_t>(symbol)];
    if (of.kind == Symbol::Kind::kOpaque && added_ != symbol) assume_inexact(of.general);
    if (!is_new) return number;
    Rank rank = Rank::kOther;
    if (of.kind == Symbol::Kind::kCounter) rank = Rank::kCounter;
    if (of.kind == Symbol::Kind::kParameter) rank = Rank::kParameter;
    unknowns_.push_back({symbol, copy, rank});
    parameters_ = parameters_ || rank == Rank::kParameter;
    bound(symbol, number);
    for (const Alternatives& guard : of.definition)
        add(guard, copy);
    return number;
}

void ConstraintSystem::bound(int symbol, std::size_t column) {
    const Symbol& of = accesses_.symbols()[static_cast<std::size_t>(symbol)];
    if (of.kind == Symbol::Kind::kDefined) return;
    if (of.kind == Symbol::Kind::kParameter && of.low != 0) return;  // too wide to be useful
    LinearConstraint at_least;
    at_least.coefficients.assign(column + 1, 0);
    at_least.coefficients[column] = 1;
    LinearConstraint at_most = at_least;
    if (of.low != kLowest) {
        at_least.constant = -of.low;
        always_.push_back(at_least);
    }
    if (of.kind == Symbol::Kind::kOpaque && of.high != kHighest) {
        at_most.coefficients[column] = -1;
        at_most.constant = of.high;
        always_.push_back(at_most);
    }
}

std::optional<LinearConstraint> ConstraintSystem::row(const std::vector<Part>& parts,
                                                      std::int64_t constant, bool equality) {
    LinearConstraint result;
    result.constant = constant;
    result.equality = equality;
    const auto accumulate = [](std::int64_t& to, std::int64_t value, std::int64_t factor) {
        std::int64_t product = 0;
        return !__builtin_mul_overflow(value, factor, &product) &&
               !__builtin_add_overflow(to, product, &to);
    };
    bool fits = true;
    for (const Part& part : parts) {
        fits = fits && accumulate(result.constant, part.value->constant, part.factor);
        for (const auto& [symbol, coefficient] : part.value->terms) {
            const std::size_t column = unknown(symbol, part.copy);
            if (result.coefficients.size() <= column) result.coefficients.resize(column + 1);
            fits = fits && accumulate(result.coefficients[column], coefficient, part.factor);
        }
    }
    return fits ? std::optional(std::move(result)) : std::nullopt;
}

LinearConstraint ConstraintSystem::row(const Condition& condition, int copy) {
    return *row({{&condition.value, copy}}, 0, condition.equality);
}

void ConstraintSystem::require(const std::vector<Part>& parts, std::int64_t constant,
                               bool equality) {
    if (auto made = row(parts, constant, equality)) {
        always_.push_back(std::move(*made));
    } else {
        exact_ = false;
    }
}

// The k of `if k == 1:` around the loop, a symbol of which nothing else is known.
std::optional<int> ConstraintSystem::condition_around(const Alternatives& guard) const {
    if (loop_ < 0) return std::nullopt;
    std::optional<int> symbol;
    for (const auto& conditions : guard) {
        for (const Condition& condition : conditions) {
            if (condition.value.terms.size() != 1) return std::nullopt;
            const int here = condition.value.terms.front().first;
            if (symbol.value_or(here) != here) return std::nullopt;
            symbol = here;
        }
    }
    if (!symbol) return std::nullopt;
    const Symbol& of = accesses_.symbols()[static_cast<std::size_t>(*symbol)];
    const bool outside = of.scope < 0 || !accesses_.inside(of.scope, loop_);
    return of.kind == Symbol::Kind::kOpaque && !of.general && outside ? symbol : std::nullopt;
}

void ConstraintSystem::add(const Alternatives& guard, int copy) {
    std::vector<Conjunction> choice;
    const std::optional<int> around = condition_around(guard);
    if (around && (around_.contains(*around) || !numbers_.contains({*around, 0}))) {
        around_.insert(*around);
        added_ = around;
    }
    for (const auto& conditions : guard) {
        Conjunction& each = choice.emplace_back();
        for (const Condition& condition : conditions)
            each.push_back(row(condition, copy));
    }
    added_.reset();
    if (choice.size() == 1) {
        always_.insert(always_.end(), choice[0].begin(), choice[0].end());
    } else {
        choices_.push_back(std::move(choice));
    }
}

void ConstraintSystem::happens(const Access& access, int copy) {
    for (const int number : accesses_.chain(access.loop)) {
        const LoopInstance& loop = accesses_.loops()[static_cast<std::size_t>(number)];
        const bool known = numbers_.contains({loop.counter, copy_of(loop.counter, copy)});
        (void)unknown(loop.counter, copy);
        if (known && copy_of(loop.counter, copy) != copy) continue;  // the other copy has added it
        for (const Condition& condition : loop.bounds)
            always_.push_back(row(condition, copy));
    }
    std::vector<const Premise*> premises;
    for (const Premise* p = access.premise; p != nullptr; p = p->outer)
        premises.push_back(p);
    for (auto p = premises.rbegin(); p != premises.rend(); ++p)
        add((*p)->guard, copy);
    const bool repeats =
        loop_ < 0 ? access.while_depth >= 0
                  : access.while_depth > accesses_.loops()[static_cast<std::size_t>(loop_)].depth;
    if (!access.certain || repeats) assume_inexact(access.general);
}

void ConstraintSystem::assume_inexact(bool general) {
    exact_ = false;
    general_ = general_ || general;
}

void ConstraintSystem::ordered() {
    const Affine counter =
        Affine::symbol(accesses_.loops()[static_cast<std::size_t>(loop_)].counter);
    require({{&counter, 1, 1}, {&counter, 0, -1}}, -1, false);
}

std::vector<std::size_t> ConstraintSystem::order() const {
    std::vector<std::size_t> columns(unknowns_.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    const auto place = [&](std::size_t column) {
        const Unknown& u = unknowns_[column];
        if (u.rank != Rank::kCounter) return std::tuple(u.rank, 0, 0, 0, column);
        // Order: outer loops, `loop_` of copy 0, of copy 1, inner loops of copy 0, of copy 1.
        const int scope = accesses_.symbols()[static_cast<std::size_t>(u.symbol)].scope;
        const int group = loop_ < 0 || !accesses_.inside(scope, loop_) ? 0 : scope == loop_ ? 1 : 2;
        return std::tuple(u.rank, group, u.copy, scope, column);
    };
    std::ranges::sort(columns, {}, place);
    return columns;
}

std::vector<Conjunction> ConstraintSystem::conjunctions() const {
    std::vector<Conjunction> result = {always_};
    for (const auto& choice : choices_) {
        std::vector<Conjunction> product;
        for (const Conjunction& left : result) {
            for (const Conjunction& right : choice) {
                Conjunction& both = product.emplace_back(left);
                both.insert(both.end(), right.begin(), right.end());
            }
        }
        result = std::move(product);
    }
    const std::vector<std::size_t> columns = order();
    for (Conjunction& conjunction : result) {
        for (LinearConstraint& constraint : conjunction) {
            constraint.coefficients.resize(columns.size());
            std::vector<std::int64_t> sorted(columns.size());
            for (std::size_t i = 0; i < columns.size(); ++i)
                sorted[i] = constraint.coefficients[columns[i]];
            constraint.coefficients = std::move(sorted);
        }
    }
    return result;
}

// Bounds the symbols that conditions around the loop leave without a least value.
void ConstraintSystem::keep_near(Conjunction& conjunction) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    const std::vector<std::size_t> columns = order();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!around_.contains(unknowns_[columns[i]].symbol)) continue;
        LinearConstraint at_least;
        at_least.coefficients.assign(columns.size(), 0);
        at_least.coefficients[i] = 1;
        at_least.constant = kFar;
        conjunction.push_back(std::move(at_least));
    }
}

ConstraintSystem::Outcome ConstraintSystem::solve(IntegerSets& sets) {
    // Too many cases: the last choices are dropped, which only adds solutions.
    std::size_t cases = 1;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        cases *= choices_[i].size();
        if (cases <= kMostConjunctions) continue;
        choices_.resize(i);
        exact_ = false;
    }
    const std::size_t dimensions = unknowns_.size();
    const bool definite = exact_ && !parameters_;
    std::vector<std::int64_t> best;
    bool found = false;
    for (const Conjunction& conjunction : conjunctions()) {
        std::vector<std::int64_t> least;
        Conjunction near = conjunction;
        if (definite) keep_near(near);
        switch (sets.solve(dimensions, near, definite ? &least : nullptr)) {
            case IntegerSets::Answer::kEmpty:
                // Only far values of the symbols around the loop, if any, satisfy the conditions.
                if (near.size() > conjunction.size() &&
                    sets.solve(dimensions, conjunction) != IntegerSets::Answer::kEmpty) {
                    exact_ = false;
                    return Outcome::kPerhaps;
                }
                continue;
            case IntegerSets::Answer::kGaveUp:
                exact_ = false;
                return Outcome::kPerhaps;
            case IntegerSets::Answer::kNotEmpty:
                break;
        }
        if (definite && (!found || least < best)) best = std::move(least);
        found = true;
        if (!definite) break;
    }
    if (!found) return Outcome::kNever;
    if (!exact_) return Outcome::kPerhaps;
    if (parameters_) return Outcome::kForSomeCalls;
    const std::vector<std::size_t> columns = order();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Unknown& of = unknowns_[columns[i]];
        solution_[{of.symbol, of.copy}] = best[i];
    }
    return Outcome::kSurely;
}

std::int64_t ConstraintSystem::value(const Affine& a, int copy) const {
    Wide result = a.constant;
    for (const auto& [symbol, coefficient] : a.terms) {
        const auto found = solution_.find({symbol, copy_of(symbol, copy)});
        if (found == solution_.end()) continue;
        result = std::clamp(result + Wide{coefficient} * found->second, -kHuge, kHuge);
    }
    return static_cast<std::int64_t>(std::clamp<Wide>(result, kLowest, kHighest));
}

std::optional<std::vector<Alternatives>> ConstraintSystem::excluded(IntegerSets& sets) const {
    const std::vector<std::size_t> columns = order();
    const auto first = static_cast<std::size_t>(std::ranges::count_if(
        unknowns_, [](const Unknown& u) { return u.rank != Rank::kParameter; }));
    std::vector<Alternatives> result;
    for (const Conjunction& conjunction : conjunctions()) {
        const auto pieces = sets.project(columns.size(), first, conjunction);
        if (!pieces) return std::nullopt;
        for (const Conjunction& piece : *pieces) {
            Alternatives& clause = result.emplace_back();
            for (const LinearConstraint& constraint : piece) {
                // Not (e >= 0) is -e - 1 >= 0; not (e == 0) is that, or e - 1 >= 0.
                for (const std::int64_t sign : {-1, 1}) {
                    if (sign == 1 && !constraint.equality) continue;
                    Affine negated = Affine::of(sign * constraint.constant - 1);
                    for (std::size_t i = 0; i < constraint.coefficients.size(); ++i) {
                        const std::int64_t c = sign * constraint.coefficients[i];
                        const int symbol = unknowns_[columns[first + i]].symbol;
                        if (c != 0) negated.terms.emplace_back(symbol, c);
                    }
                    std::ranges::sort(negated.terms);
                    clause.push_back({{std::move(negated)}});
                }
            }
        }
    }
    return result;
}

IntegerSets::Range ConstraintSystem::range(IntegerSets& sets,
                                           const std::vector<Part>& parts) const {
    ConstraintSystem copy = *this;
    const auto expression = copy.row(parts, 0, false);
    if (!expression) return {};
    IntegerSets::Range result;
    bool first = true;
    const std::vector<std::size_t> columns = copy.order();
    LinearConstraint sorted = *expression;
    sorted.coefficients.assign(columns.size(), 0);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] < expression->coefficients.size())
            sorted.coefficients[i] = expression->coefficients[columns[i]];
    }
    for (const Conjunction& conjunction : copy.conjunctions()) {
        if (sets.solve(columns.size(), conjunction) == IntegerSets::Answer::kEmpty) continue;
        const IntegerSets::Range each = sets.range(columns.size(), conjunction, sorted);
        result.low = first                    ? each.low
                     : result.low && each.low ? std::optional(std::min(*result.low, *each.low))
                                              : std::nullopt;
        result.high = first                      ? each.high
                      : result.high && each.high ? std::optional(std::max(*result.high, *each.high))
                                                 : std::nullopt;
        first = false;
    }
    return result;
}

}  // namespace parpy
