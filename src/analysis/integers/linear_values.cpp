// See linear_values.h. Symbols that denote the same function of the same values are one symbol, so
// that two occurrences of `i // 2` are equal, and so are two occurrences of `ptr[i]` in an array
// that nothing stores to.
#include "analysis/integers/linear_values.h"

#include <algorithm>

#include "analysis/integers/interval_arithmetic.h"
#include "analysis/integers/intervals.h"
#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_number(const Type& type) {
    return type.is_scalar() && is_integer(type.scalar);
}

}  // namespace

LinearValues::LinearValues(std::vector<Symbol>& symbols,
                           std::unordered_map<const Var*, int>& parameters, const Function& entry,
                           Listener& listener)
    : symbols_(symbols), listener_(listener), parameters_(parameters) {
    stored_ = uses_of(entry.body).stored;
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

int LinearValues::scope_of(const Affine& a) const {
    int scope = -1;  // of the loops around one place, inner loops have the larger numbers
    for (const auto& [symbol, coefficient] : a.terms)
        scope = std::max(scope, symbols_[static_cast<std::size_t>(symbol)].scope);
    return scope;
}

bool LinearValues::fits(const Affine& a, Scalar type) const {
    const Interval all =
        type == Scalar::kU64 ? Interval{0, Interval::all().high} : Interval::of_type(type);
    const WideInterval values = range(a);
    return values.low >= all.low && values.high <= all.high;
}

bool LinearValues::mentions_general(const Affine& a) const {
    return mentions(a, [](const Symbol& symbol) {
        return symbol.kind == Symbol::Kind::kParameter || symbol.general;
    });
}

bool LinearValues::mentions_opaque(const Affine& a) const {
    return mentions(a, [](const Symbol& symbol) { return symbol.kind == Symbol::Kind::kOpaque; });
}

// Whether a program specialised on the values of the call would know the value.
bool LinearValues::follows_from_arguments(const Expr& e) const {
    if (!has_parameters_) return false;
    bool data = false;
    for_each_expr(
        e, [&](const Expr& each) { data = data || each.op == Op::kLoad || has_effects(each.op); });
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
            if (!is_integer) return std::nullopt;
            if (const auto value = constant_integer(&e)) return constant(*value, e.type.scalar);
            return unknown(e, false);
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

Affine LinearValues::constant(std::int64_t value, Scalar type) {
    if (type != Scalar::kU64 || value >= 0) return Affine::of(value);
    // The constant does not fit an Affine: it is a symbol, whose value large_ keeps.
    const Affine result = shared({static_cast<int>(Op::kConst), nullptr, {Affine::of(value)}},
                                 [&](Symbol& symbol, int) {
                                     symbol.kind = Symbol::Kind::kOpaque;
                                     symbol.low = Interval::of_type(type).low;
                                     symbol.high = Interval::of_type(type).high;
                                 });
    const int number = result.terms.front().first;
    large_.emplace(number, static_cast<std::uint64_t>(value));
    unwrapped_.emplace(number, any_scaled(Affine::of(1), static_cast<std::uint64_t>(value)));
    return result;
}

Affine LinearValues::variable(const Var* var) {
    if (var->constant != nullptr) {
        if (const auto* value = std::get_if<std::int64_t>(&var->constant->value)) {
            return constant(*value, var->type.scalar);
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
    const Interval type = Interval::of_type(var->type.scalar);
    if (var->wide) {
        symbol.kind = Symbol::Kind::kOpaque;
        symbol.general = true;
        symbol.low = type.low;
        symbol.high = type.high;
        parameters_.emplace(var, make(std::move(symbol)));
        return;
    }
    symbol.kind = Symbol::Kind::kParameter;
    symbol.var = var;
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
    if (array == nullptr || may_share(stored_, *array)) return unknown(e, false);
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
    const Affine result = shared({key, nullptr, operands}, [&](Symbol& symbol, int) {
        symbol.kind = Symbol::Kind::kOpaque;
        symbol.low = type.low;
        symbol.high = type.high;
        symbol.general =
            std::ranges::any_of(operands, [&](const Affine& a) { return mentions_general(a); });
    });
    remember(result, unwrapped(e, operands), e.type.scalar);
    return result;
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
        auto first = a.disjunction(), second = b.disjunction();
        if (!a.exact || !b.exact || !first || !second ||
            first->size() + second->size() > Guard::kMostAlternatives) {
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
    switch (truth ? e.op : negation(e.op)) {
        case Op::kEq:
            return Guard::of({*difference, true});
        case Op::kNe: {
            Guard guard;
            guard.all.push_back({{{*below}}, {{*above}}});
            return guard;
        }
        case Op::kLt:
            return Guard::of({*below});
        case Op::kLe:
            return Guard::of({*negative});
        case Op::kGt:
            return Guard::of({*above});
        default:
            return Guard::of({*difference});
    }
}

// ---------------------------------------------------------------- statements

void LinearValues::assign(const Assign& stmt) {
    auto value = eval(*stmt.value);
    if (!is_number(stmt.var->type)) return;
    const Scalar type = stmt.var->type.scalar;
    auto exact = value ? std::optional(unwrapped(*value)) : std::nullopt;
    if (stmt.update && value) {
        const Affine old = variable(stmt.var);
        if (*stmt.update == Op::kAdd || *stmt.update == Op::kSub) {
            const int sign = *stmt.update == Op::kAdd ? 1 : -1;
            exact = any_sum(unwrapped(old), *exact, sign);
            value = sum(old, *value, sign);
        } else if (const auto by = factor(*value); by && *stmt.update == Op::kMul) {
            exact = any_scaled(unwrapped(old), *by);
            value = value->is_constant() ? scaled(old, value->constant) : std::nullopt;
        } else if (*stmt.update == Op::kMul && type == Scalar::kI64) {
            exact = product(unwrapped(old), *exact);
            value.reset();
        } else {
            const bool quotients = *stmt.update == Op::kFloorDiv && value->is_constant();
            value = quotients ? quotient(old, value->constant) : std::nullopt;
            exact = value;
        }
    }
    if (value && !fits(*value, type)) value.reset();
    environment_[stmt.var] = value ? *value : fresh(type, follows_from_arguments(*stmt.value));
    if (!value) remember(environment_[stmt.var], exact, type);
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

std::vector<Affine> LinearValues::parts(const Expr& e, Op op) {
    if (e.op != op || !is_number(e.type)) return {number(e)};
    std::vector<Affine> result = parts(*e.operands[0], op);
    for (Affine& other : parts(*e.operands[1], op))
        result.push_back(std::move(other));
    return result;
}

LinearValues::Bounds LinearValues::bounds(const For& stmt) {
    Bounds result;
    result.step = number(*stmt.step);
    // i >= max(a, b) is i >= a and i >= b; i < min(a, b) likewise.
    if (result.by() == 1) {
        result.begins = parts(*stmt.begin, Op::kMax);
    } else {
        result.begins = {number(*stmt.begin)};
    }
    if (result.by() != 0) {
        result.ends = parts(*stmt.end, result.by() > 0 ? Op::kMin : Op::kMax);
    } else {
        result.ends = {number(*stmt.end)};
    }
    return result;
}

bool LinearValues::count(LoopInstance& loop, int number, const Bounds& bounds) {
    const auto& [begins, ends, step] = bounds;
    const std::int64_t by = bounds.by();
    WideInterval values{Interval::all().low, Interval::all().high};
    for (const Affine& begin : begins) {
        if (by >= 0) values.low = std::max(values.low, range(begin).low);
        if (by < 0) values.high = std::min(values.high, range(begin).high);
    }
    for (const Affine& end : ends) {
        if (by > 0) values.high = std::min(values.high, range(end).high - 1);
        if (by < 0) values.low = std::max(values.low, range(end).low + 1);
    }
    Symbol counter;
    counter.kind = Symbol::Kind::kCounter;
    counter.scope = number;
    // If the step is one, the variable itself is the counter.
    const Wide length = values.high > values.low ? values.high - values.low : 0;
    counter.low = by == 1 ? static_cast<std::int64_t>(values.low) : 0;
    counter.high = by == 1   ? static_cast<std::int64_t>(std::max(values.low, values.high))
                   : by == 0 ? Interval::all().high
                             : static_cast<std::int64_t>(std::min<Wide>(
                                   length / (by > 0 ? Wide{by} : -Wide{by}), Interval::all().high));
    loop.counter = make(std::move(counter));
    std::optional<Affine> value;
    if (by == 1) value = Affine::symbol(loop.counter);
    if (by != 0 && by != 1) value = sum(begins[0], Affine::symbol(loop.counter), by);
    // The negation of "below the bound" is: difference - slack >= 0.
    const auto bound = [&](const std::optional<Affine>& difference, std::int64_t slack) {
        const auto left = difference ? sum(*difference, Affine::of(-slack)) : std::nullopt;
        if (!left) return false;
        loop.bounds.push_back({*left});
        return true;
    };
    bool exact = value.has_value();
    for (const Affine& begin : begins) {
        if (by == 1) exact = bound(sum(*value, begin, -1), 0) && exact;
    }
    for (const Affine& end : ends) {
        if (value) exact = bound(by > 0 ? sum(end, *value, -1) : sum(*value, end, -1), 1) && exact;
    }
    if (!value) {
        const int outer = std::exchange(loop_, number);
        value = fresh(loop.stmt->var->type.scalar, mentions_general(step));
        loop_ = outer;
        if (by == 0) follow(loop, bounds, *value);
    }
    loop.value = *value;
    return exact;
}

// The value of a loop whose step is known at run time only: begin + counter * step. An iteration
// shows the sign of the step where the order of begin and end is known.
void LinearValues::follow(LoopInstance& loop, const Bounds& bounds, const Affine& value) {
    const Affine& begin = bounds.begins.front();
    const Affine& end = bounds.ends.front();
    const auto way = product(Affine::symbol(loop.counter), unwrapped(bounds.step));
    if (way) remember(value, any_sum(unwrapped(begin), *way), loop.stmt->var->type.scalar);
    const auto length = sum(end, begin, -1);
    if (!length) return;
    const WideInterval lengths = range(*length);
    const int sign = lengths.low >= 0 ? 1 : lengths.high <= 0 ? -1 : 0;
    if (sign == 0) return;
    const auto step = scaled(unwrapped(bounds.step), sign), left = sum(end, value, -1);
    const auto towards = left ? scaled(*left, sign) : std::nullopt;
    for (const auto& positive : {step, towards}) {
        const auto rest = positive ? sum(*positive, Affine::of(-1)) : std::nullopt;
        if (rest) loop.bounds.push_back({*rest});
    }
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
