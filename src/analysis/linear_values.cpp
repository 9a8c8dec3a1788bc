// See linear_values.h. Symbols that stand for the same function of the same values are one symbol,
// so that two occurrences of `i // 2`, or of `ptr[i]` of an array that nothing stores to, are
// equal.
#include "analysis/linear_values.h"

#include <algorithm>
#include <bit>

#include "analysis/intervals.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::size_t kMostAlternatives = 8;

bool is_number(const Type& type) {
    return type.is_scalar() && is_integer(type.scalar);
}

// All of `guards` as one disjunction; nothing if that is long.
std::optional<Alternatives> disjunction(const std::vector<Alternatives>& guards) {
    Alternatives result = {{}};
    for (const Alternatives& guard : guards) {
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

Guard that(Condition condition) {
    Guard guard;
    guard.all.push_back({{std::move(condition)}});
    return guard;
}

Op negated(Op op) {
    switch (op) {
        case Op::kEq:
            return Op::kNe;
        case Op::kNe:
            return Op::kEq;
        case Op::kLt:
            return Op::kGe;
        case Op::kLe:
            return Op::kGt;
        case Op::kGt:
            return Op::kLe;
        default:
            return Op::kLt;
    }
}

}  // namespace

LinearValues::LinearValues(std::vector<Symbol>& symbols,
                           std::unordered_map<const Var*, int>& parameters, const Function& entry,
                           Listener& listener)
    : symbols_(symbols), listener_(listener), parameters_(parameters) {
    for (const Var* array : uses_of(entry.body).stored) {
        stored_.insert(array);
        aliases_stored_ = aliases_stored_ || array->aliased;
    }
    for (const Var* param : entry.params) {
        if (!param->type.is_scalar()) continue;
        const Scalar type = param->type.scalar;
        if (is_integer(type)) make_parameter(param);
        // The other types are never specialised on.
        const bool by_value = is_integer(type) || type == Scalar::kF32 || type == Scalar::kF64;
        has_parameters_ = has_parameters_ || by_value;
    }
}

// ---------------------------------------------------------------- symbols

int LinearValues::make(Symbol symbol) {
    symbols_.push_back(std::move(symbol));
    return static_cast<int>(symbols_.size()) - 1;
}

Affine LinearValues::fresh(Scalar type, bool general) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::kOpaque;
    symbol.scope = loop_;
    symbol.low = Interval::of_type(type).low;
    symbol.high = Interval::of_type(type).high;
    symbol.general = general;
    return Affine::symbol(make(std::move(symbol)));
}

Affine LinearValues::unknown(const Expr& e, bool general) {
    return fresh(is_number(e.type) ? e.type.scalar : Scalar::kI64, general);
}

template <class Fill>
Affine LinearValues::shared(Key key, Fill&& fill) {
    const auto found = shared_.find(key);
    if (found != shared_.end()) return Affine::symbol(found->second);
    Symbol symbol;
    for (const Affine& operand : std::get<2>(key))
        symbol.scope = std::max(symbol.scope, scope_of(operand));
    fill(symbol, static_cast<int>(symbols_.size()));
    const int number = make(std::move(symbol));
    shared_.emplace(std::move(key), number);
    return Affine::symbol(number);
}

int LinearValues::scope_of(const Affine& a) const {
    int scope = -1;  // of loops around one place the inner ones have the larger numbers
    for (const auto& [symbol, coefficient] : a.terms)
        scope = std::max(scope, symbols_[static_cast<std::size_t>(symbol)].scope);
    return scope;
}

LinearValues::Range LinearValues::range(const Affine& a) const {
    constexpr Wide kHuge = Wide{1} << 120;
    Range result{a.constant, a.constant};
    for (const auto& [number, coefficient] : a.terms) {
        const Symbol& symbol = symbols_[static_cast<std::size_t>(number)];
        const Wide x = Wide{coefficient} * symbol.low, y = Wide{coefficient} * symbol.high;
        result.low = std::max(-kHuge, result.low + std::min(x, y));
        result.high = std::min(kHuge, result.high + std::max(x, y));
    }
    return result;
}

bool LinearValues::fits(const Affine& a, Scalar type) const {
    const Interval all =
        type == Scalar::kU64 ? Interval{0, Interval::all().high} : Interval::of_type(type);
    const Range values = range(a);
    return values.low >= all.low && values.high <= all.high;
}

bool LinearValues::mentions_general(const Affine& a) const {
    return std::ranges::any_of(a.terms, [&](const auto& term) {
        const Symbol& symbol = symbols_[static_cast<std::size_t>(term.first)];
        if (symbol.kind == Symbol::Kind::kParameter || symbol.general) return true;
        return std::ranges::any_of(symbol.definition, [&](const Alternatives& alternatives) {
            return std::ranges::any_of(alternatives, [&](const auto& conditions) {
                return std::ranges::any_of(conditions, [&](const Condition& c) {
                    Affine rest = c.value;
                    std::erase(rest.terms, std::pair(term.first, rest.coefficient(term.first)));
                    return mentions_general(rest);
                });
            });
        });
    });
}

// Whether a program specialised on the values of the call would know the value.
bool LinearValues::follows_from_arguments(const Expr& e) const {
    if (!has_parameters_) return false;
    bool data = false;
    for_each_expr(
        e, [&](const Expr& each) { data = data || each.op == Op::kLoad || each.op == Op::kCall; });
    return !data;
}

// ---------------------------------------------------------------- expressions

Affine LinearValues::number(const Expr& e) {
    const auto value = eval(e);
    return value ? *value : unknown(e, false);
}

std::optional<Affine> LinearValues::eval(const Expr& e) {
    const bool is_integer = is_number(e.type);
    switch (e.op) {
        case Op::kConst:
            if (const auto value = constant_integer(&e);
                is_integer && value && !(e.type.is(Scalar::kU64) && *value < 0)) {
                return Affine::of(*value);
            }
            return is_integer ? std::optional(unknown(e, false)) : std::nullopt;
        case Op::kVar:
            return is_integer ? std::optional(variable(e.var)) : std::nullopt;
        case Op::kExtent:
            return extent(e);
        case Op::kLoad: {
            std::vector<Affine> indices;
            for (const Expr* index : e.operands)
                indices.push_back(number(*index));
            if (!quiet_) listener_.read(e.var, indices, e.span);
            return is_integer ? std::optional(load(e, std::move(indices))) : std::nullopt;
        }
        case Op::kCall: {
            if (quiet_) return is_integer ? std::optional(unknown(e, false)) : std::nullopt;
            const Affine value = listener_.call(e);
            return is_integer ? std::optional(value) : std::nullopt;
        }
        case Op::kAnd:
        case Op::kOr:
            (void)eval(*e.operands[0]);
            if (!quiet_) listener_.enter_guard(guard(*e.operands[0], e.op == Op::kAnd));
            (void)eval(*e.operands[1]);
            if (!quiet_) listener_.leave_guard();
            return std::nullopt;
        case Op::kSelect: {
            (void)eval(*e.operands[0]);
            const Guard yes = guard(*e.operands[0], true), no = guard(*e.operands[0], false);
            if (!quiet_) listener_.enter_guard(yes);
            const auto a = eval(*e.operands[1]);
            if (!quiet_) {
                listener_.leave_guard();
                listener_.enter_guard(no);
            }
            const auto b = eval(*e.operands[2]);
            if (!quiet_) listener_.leave_guard();
            if (!is_integer) return std::nullopt;
            const auto value = a && b ? either(yes, *a, no, *b) : std::nullopt;
            return value ? *value : unknown(e, follows_from_arguments(e));
        }
        default:
            break;
    }
    std::vector<Affine> operands;
    for (const Expr* operand : e.operands) {
        if (auto value = eval(*operand)) operands.push_back(std::move(*value));
    }
    if (!is_integer) return std::nullopt;
    if (operands.empty() || operands.size() != e.operands.size()) {
        return unknown(e, follows_from_arguments(e));
    }
    return operation(e, operands);
}

Affine LinearValues::variable(const Var* var) {
    if (var->constant != nullptr) {
        if (const auto* value = std::get_if<std::int64_t>(&var->constant->value)) {
            return Affine::of(*value);
        }
    }
    const auto found = environment_.find(var);
    if (found != environment_.end()) return found->second;
    if (const auto param = parameters_.find(var); param != parameters_.end()) {
        return Affine::symbol(param->second);
    }
    return environment_[var] = fresh(var->type.scalar, false);
}

void LinearValues::make_parameter(const Var* var) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::kParameter;
    symbol.var = var;
    const Interval type = Interval::of_type(var->type.scalar);
    symbol.low = var->origin.kind == Origin::Kind::kExtent
                     ? 0
                     : std::max(type.low, -Accesses::kLargestParameter);
    symbol.high = std::min(type.high, Accesses::kLargestParameter);
    parameters_.emplace(var, make(std::move(symbol)));
}

Affine LinearValues::extent(const Expr& e) {
    const Var* array = actual(e.var);
    if (array == nullptr) array = e.var;
    const auto rank = static_cast<int>(array->dims.size());
    const int axis = e.index < 0 ? e.index + rank : e.index;
    if (axis < 0 || axis >= rank) return unknown(e, false);
    const Dim& dim = array->dims[static_cast<std::size_t>(axis)];
    if (dim.extent) return Affine::of(*dim.extent);
    const auto param = parameters_.find(dim.extent_var);
    return param != parameters_.end() ? Affine::symbol(param->second) : unknown(e, false);
}

Affine LinearValues::load(const Expr& e, std::vector<Affine> indices) {
    const Var* array = actual(e.var);
    const bool stored =
        array == nullptr || stored_.contains(array) || (array->aliased && aliases_stored_);
    if (stored) return unknown(e, false);
    return shared({static_cast<int>(Op::kLoad), array, std::move(indices)},
                  [&](Symbol& symbol, int) {
                      symbol.kind = Symbol::Kind::kOpaque;
                      symbol.low = Interval::of_type(e.type.scalar).low;
                      symbol.high = Interval::of_type(e.type.scalar).high;
                  });
}

Affine LinearValues::operation(const Expr& e, const std::vector<Affine>& operands) {
    const auto value = linear(e, operands);
    if (value && fits(*value, e.type.scalar)) return *value;
    const Interval type = Interval::of_type(e.type.scalar);
    const int key = static_cast<int>(e.op) + 1000 * static_cast<int>(e.type.scalar);
    return shared({key, nullptr, operands}, [&](Symbol& symbol, int) {
        symbol.kind = Symbol::Kind::kOpaque;
        symbol.low = type.low;
        symbol.high = type.high;
        symbol.general =
            std::ranges::any_of(operands, [&](const Affine& a) { return mentions_general(a); });
    });
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
            return constant(b) ? quotient(a, *constant(b)) : std::nullopt;
        case Op::kMod:
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
            return either(that({a}), a, that({*negative}), *from_end);
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
    const Range values = range(a);
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
    const Range values = range(a);
    if (divisor > 0 && values.low >= 0 && values.high < divisor) return a;
    const auto whole = quotient(a, divisor);
    return whole ? sum(a, *whole, -divisor) : std::nullopt;
}

std::optional<Affine> LinearValues::chosen(Op op, const Affine& a, const Affine& b) {
    const auto less = sum(b, a, -1);  // b - a
    if (!less) return std::nullopt;
    const Range difference = range(*less);
    if (difference.low >= 0) return op == Op::kMin ? a : b;
    if (difference.high <= 0) return op == Op::kMin ? b : a;
    const auto more = sum(Affine::of(-1), *less, -1);  // a - b - 1
    if (!more) return std::nullopt;
    const Guard first = that({*less}), second = that({*more});
    return op == Op::kMin ? either(first, a, second, b) : either(first, b, second, a);
}

std::optional<Affine> LinearValues::either(const Guard& yes, const Affine& a, const Guard& no,
                                           const Affine& b) {
    if (a == b) return a;
    if (!yes.exact || !no.exact) return std::nullopt;
    const auto when = disjunction(yes.all), otherwise = disjunction(no.all);
    if (!when || !otherwise || when->size() + otherwise->size() > kMostAlternatives) {
        return std::nullopt;
    }
    const Range x = range(a), y = range(b);
    const Wide low = std::min(x.low, y.low), high = std::max(x.high, y.high);
    if (low < Interval::all().low || high > Interval::all().high) return std::nullopt;
    const int number = static_cast<int>(symbols_.size());
    Symbol symbol;
    symbol.kind = Symbol::Kind::kDefined;
    symbol.low = static_cast<std::int64_t>(low);
    symbol.high = static_cast<std::int64_t>(high);
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

// ---------------------------------------------------------------- conditions

Guard LinearValues::guard(const Expr& e, bool truth) {
    const auto inexact = [&] { return Guard{{}, false, follows_from_arguments(e)}; };
    if (e.op == Op::kNot) return guard(*e.operands[0], !truth);
    if (e.op == Op::kConst) {
        const bool* value = std::get_if<bool>(&e.constant.value);
        if (value == nullptr) return inexact();
        if (*value == truth) return {};
        Guard never;
        never.all.emplace_back();
        return never;
    }
    if (e.op == Op::kAnd || e.op == Op::kOr) {
        Guard a = guard(*e.operands[0], truth);
        Guard b = guard(*e.operands[1], truth);
        if ((e.op == Op::kAnd) == truth) {
            a.all.insert(a.all.end(), b.all.begin(), b.all.end());
            return {std::move(a.all), a.exact && b.exact, a.general || b.general};
        }
        auto first = disjunction(a.all), second = disjunction(b.all);
        if (!a.exact || !b.exact || !first || !second ||
            first->size() + second->size() > kMostAlternatives) {
            return inexact();
        }
        first->insert(first->end(), second->begin(), second->end());
        return {{std::move(*first)}, true, false};
    }
    if (!is_comparison(e.op) || !is_number(e.operands[0]->type)) return inexact();
    const bool was_quiet = std::exchange(quiet_, true);
    const auto a = eval(*e.operands[0]), b = eval(*e.operands[1]);
    quiet_ = was_quiet;
    const auto difference = a && b ? sum(*a, *b, -1) : std::nullopt;
    const auto negative = difference ? scaled(*difference, -1) : std::nullopt;
    if (!negative) return inexact();
    const auto below = sum(*negative, Affine::of(-1)), above = sum(*difference, Affine::of(-1));
    if (!below || !above) return inexact();
    switch (truth ? e.op : negated(e.op)) {
        case Op::kEq:
            return that({*difference, true});
        case Op::kNe: {
            Guard guard;
            guard.all.push_back({{{*below}}, {{*above}}});
            return guard;
        }
        case Op::kLt:
            return that({*below});
        case Op::kLe:
            return that({*negative});
        case Op::kGt:
            return that({*above});
        default:
            return that({*difference});
    }
}

// ---------------------------------------------------------------- statements

void LinearValues::assign(const Assign& stmt) {
    auto value = eval(*stmt.value);
    if (!is_number(stmt.var->type)) return;
    if (stmt.update) {
        const Affine old = variable(stmt.var);
        const bool known = value && (*stmt.update == Op::kAdd || *stmt.update == Op::kSub);
        value = known ? sum(old, *value, *stmt.update == Op::kAdd ? 1 : -1) : std::nullopt;
    }
    if (value && !fits(*value, stmt.var->type.scalar)) value.reset();
    environment_[stmt.var] =
        value ? *value : fresh(stmt.var->type.scalar, follows_from_arguments(*stmt.value));
}

void LinearValues::scramble(const VarSet& written) {
    for (const Var* var : written) {
        if (is_number(var->type)) environment_[var] = fresh(var->type.scalar, false);
    }
}

void LinearValues::merge(const Environment& then, const Guard& yes, const Guard& no) {
    Environment otherwise = environment_;
    const auto value_in = [&](Environment& environment, const Var* var) {
        std::swap(environment_, environment);
        Affine value = variable(var);
        std::swap(environment_, environment);
        return value;
    };
    Environment first = then;
    const auto join = [&](const Var* var) {
        const Affine a = value_in(first, var), b = value_in(otherwise, var);
        if (a == b) return;
        const auto value = either(yes, a, no, b);
        environment_[var] = value ? *value : fresh(var->type.scalar, yes.general);
    };
    std::vector<const Var*> vars;
    for (const auto& [var, value] : then) {
        const auto found = environment_.find(var);
        if (found == environment_.end() || found->second != value) vars.push_back(var);
    }
    for (const auto& [var, value] : environment_) {
        if (!then.contains(var)) vars.push_back(var);
    }
    for (const Var* var : vars)
        join(var);
}

bool LinearValues::count(LoopInstance& loop, int number, const Affine& begin, const Affine& end,
                         const Affine& step) {
    Symbol counter;
    counter.kind = Symbol::Kind::kCounter;
    counter.scope = number;
    counter.high = Interval::all().high;
    const std::int64_t by = step.is_constant() ? step.constant : 0;
    const Range from = range(begin), to = range(end);
    if (by != 0) {
        const Wide length = by > 0 ? to.high - from.low - 1 : from.high - to.low - 1;
        const Wide last = length < 0 ? 0 : length / (by > 0 ? Wide{by} : -Wide{by});
        counter.high = static_cast<std::int64_t>(std::min<Wide>(last, counter.high));
    }
    loop.counter = make(std::move(counter));
    const auto value =
        by != 0 ? sum(begin, Affine::symbol(loop.counter), by) : std::optional<Affine>();
    const auto left = !value ? std::nullopt : by > 0 ? sum(end, *value, -1) : sum(*value, end, -1);
    const auto bound = left ? sum(*left, Affine::of(-1)) : std::nullopt;
    if (!bound) {
        const int outer = std::exchange(loop_, number);
        loop.value = fresh(loop.stmt->var->type.scalar, mentions_general(step));
        loop_ = outer;
        return false;
    }
    loop.value = *value;
    loop.bounds = {{*bound}};
    return true;
}

void LinearValues::enter_loop(int number, const Var* var, const Affine& value,
                              const VarSet& written) {
    loop_ = number;
    scramble(written);
    environment_[var] = value;
}

void LinearValues::leave_loop(int outer, const Var* var, const VarSet& written) {
    loop_ = outer;
    scramble(written);
    environment_[var] = fresh(var->type.scalar, false);
}

// ---------------------------------------------------------------- calls

LinearValues::Frame LinearValues::enter(const Function& callee, const std::vector<Expr*>& operands,
                                        const std::vector<std::optional<Affine>>& scalars) {
    Frame caller{std::exchange(environment_, {}), actual_};
    for (std::size_t i = 0; i < std::min(operands.size(), callee.params.size()); ++i) {
        const Var* param = callee.params[i];
        if (operands[i]->op == Op::kArray) {
            const auto found = caller.actual.find(operands[i]->var);
            actual_[param] = found == caller.actual.end() ? operands[i]->var : found->second;
        } else if (scalars[i] && is_number(param->type)) {
            environment_[param] = *scalars[i];
        }
    }
    return caller;
}

void LinearValues::leave(Frame frame) {
    environment_ = std::move(frame.environment);
    actual_ = std::move(frame.actual);
}

const Var* LinearValues::actual(const Var* array) const {
    const auto found = actual_.find(array);
    return found == actual_.end() ? array : found->second;
}

}  // namespace parpy
