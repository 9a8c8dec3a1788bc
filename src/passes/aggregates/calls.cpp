// Calls in lower_aggregates: functions specialised by the kinds of their arguments, and functions
// that are inlined.
#include <algorithm>

#include "analysis/callers.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/aggregates/lowering.h"
#include "passes/types/function_names.h"

namespace parpy {

using namespace ir;

namespace {

// Whether there is a return with a value that is not the last statement.
bool returns_before_its_end(const Function& function) {
    return any_stmt(function.body, [&](const Stmt& stmt) {
        return stmt.kind == StmtKind::kReturn && &stmt != function.body.back() &&
               static_cast<const Return&>(stmt).value != nullptr;
    });
}

// Rewrites the statements so that nothing follows a return: those behind an `if` that returns move
// to its other branch. False if that is impossible: a return is in a loop, or in an `if` of which
// some paths return and others go on.
bool put_returns_last(Body& stmts) {
    const auto is_return = [](const Stmt& stmt) { return stmt.kind == StmtKind::kReturn; };
    for (std::size_t i = 0; i < stmts.size(); ++i) {
        if (is_return(*stmts[i])) {
            stmts.resize(i + 1);
            return true;
        }
        if (!any_stmt(Body{stmts[i]}, is_return)) continue;
        auto* branch = stmts[i]->as<If>();
        if (branch == nullptr) return false;
        const Body rest(stmts.begin() + static_cast<std::ptrdiff_t>(i) + 1, stmts.end());
        const bool then_ends = never_ends(branch->then_body);
        const bool else_ends = never_ends(branch->else_body);
        if (!rest.empty() && !then_ends && !else_ends) return false;
        if (!then_ends) branch->then_body.insert(branch->then_body.end(), rest.begin(), rest.end());
        if (!else_ends) branch->else_body.insert(branch->else_body.end(), rest.begin(), rest.end());
        stmts.resize(i + 1);
        return put_returns_last(branch->then_body) && put_returns_last(branch->else_body);
    }
    return true;
}

}  // namespace

// ------------------------------------------------------------ functions by kinds

// The results of recursive calls are known after a few rounds, or never.
constexpr int kMostRounds = 8;
constexpr std::ptrdiff_t kMostInstances = 100;

KindInstances::KindInstances(PassContext& context, const Module& module)
    : context_(context), element_functions_(module), has_operators_(parpy::has_operators(module)) {
    for (const Function* function : module.functions) {
        if (returns_before_its_end(*function)) returns_early_.insert(function);
    }
    asks_ranks_ = with_callers(module, [&](const Function& function) {
        return returns_early_.contains(&function) || any_expr(function.body, [](const Expr& e) {
                   return e.op == Op::kShape || e.op == Op::kRank || e.op == Op::kArrayOf ||
                          e.op == Op::kSnapshot || e.op == Op::kEllipsis || e.op == Op::kApply;
               });
    });
}

KindInstance& KindInstances::find(const Function& source, const std::vector<Kind>& given) {
    std::vector<Kind> kinds = given;
    if (!asks_ranks_.contains(&source)) std::ranges::transform(kinds, kinds.begin(), without_ranks);
    const auto known = std::ranges::find_if(all_, [&](const KindInstance& each) {
        return each.source == &source && each.kinds == kinds;
    });
    if (known != all_.end()) return *known;
    const auto count = std::ranges::count_if(
        all_, [&](const KindInstance& each) { return each.source == &source; });
    all_.push_back(
        {.source = &source, .kinds = std::move(kinds), .function = nullptr, .result = {}});
    KindInstance& made = all_.back();
    if (count >= kMostInstances) {
        made.result = Kind::mixed();
        made.is_known = made.is_refused = true;
    }
    return made;
}

const Kind& KindInstances::result_of(KindInstance& instance) {
    if (instance.is_known || instance.is_open) return instance.result;
    instance.is_open = true;
    KindsHere begin;
    for (std::size_t i = 0; i < instance.source->params.size(); ++i)
        begin.of[instance.source->params[i]] =
            i < instance.kinds.size() ? instance.kinds[i] : Kind::number();
    int rounds = 0;
    for (Kind before = Kind::none(); before != instance.result;) {
        before = instance.result;
        if (++rounds > kMostRounds) {  // it grows with each call of itself
            instance.result = Kind::mixed();
            break;
        }
        KindsHere here = begin;
        KindWalk walk([this](const Function& callee,
                             const std::vector<Kind>& kinds) { return result_of(callee, kinds); },
                      has_operators_);
        walk.walk(instance.source->body, here);
        instance.result = walk.result();
    }
    instance.is_open = false;
    // The result so far of another function that is open may still change.
    const auto is_open = [](const KindInstance& e) { return e.is_open; };
    instance.is_known =
        std::ranges::none_of(all_, is_open) && std::ranges::none_of(ranked_, is_open);
    return instance.result;
}

Kind KindInstances::result_of(const Function& source, const std::vector<Kind>& kinds) {
    const Kind result = result_of(find(source, kinds));
    if (asks_ranks_.contains(&source) || !result.is_number() || result.rank >= 0) return result;
    std::ptrdiff_t count = 0;
    KindInstance* ranked = nullptr;
    for (KindInstance& each : ranked_) {
        count += each.source == &source ? 1 : 0;
        if (each.source == &source && each.kinds == kinds) ranked = &each;
    }
    if (ranked == nullptr && count == kMostInstances) return result;
    if (ranked == nullptr)
        ranked = &ranked_.emplace_back(
            KindInstance{.source = &source, .kinds = kinds, .function = nullptr, .result = {}});
    const Kind known = result_of(*ranked);
    return known.is_number() ? known : result;
}

bool KindInstances::stands_in(KindInstance& instance) {
    const Kind& result = result_of(instance);
    if (result.form == Kind::Form::kNothing) return false;
    // Functions return arrays only at their end.
    const bool array = result.is_number() && result.rank > 0;
    if (!array || !returns_early_.contains(instance.source)) return !result.is_number();
    std::vector<bool> arrays;
    for (const Kind& kind : instance.kinds)
        arrays.push_back(kind.is_number() && kind.rank > 0);
    return element_functions_.way(*instance.source, arrays) != ElementFunctions::Way::kEach;
}

Function* KindInstances::function_of(KindInstance& instance) {
    if (instance.function != nullptr) return instance.function;
    Module& module = context_.module;
    std::string name = instance.source->name;
    const auto taken = [&](const Function* f) { return f != instance.source && f->name == name; };
    for (int number = 2; std::ranges::any_of(module.functions, taken); ++number)
        name = instance.source->name + "_" + std::to_string(number);
    Substitution substitution;
    instance.function = clone_function(module, *instance.source, name, substitution);
    waiting_.push_back(&instance);
    return instance.function;
}

KindInstance* KindInstances::next() {
    if (waiting_.empty()) return nullptr;
    KindInstance* instance = waiting_.front();
    waiting_.pop_front();
    return instance;
}

// ------------------------------------------------------------ calls

Parts Lowering::call(Expr& e) {
    if (e.callee->kind == FunctionKind::kForeign) {
        e.operands = numbers(e.operands);
        return {Kind::number(), {&e}};
    }
    std::vector<Parts> arguments = lower_all(e.operands);
    std::vector<Span> spans;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind.form == Kind::Form::kMixed) {
            fail_mixed(*e.operands[i], arguments[i].kind);
            return poison(e.span);
        }
        spans.push_back(e.operands[i]->span);
        arguments[i] = carried(std::move(arguments[i]), spans.back());
    }
    return call_of(e, *e.callee, std::move(arguments), spans);
}

Parts Lowering::call_of(Expr& e, Function& callee, std::vector<Parts> arguments,
                        const std::vector<Span>& spans) {
    std::vector<Kind> kinds;
    for (const Parts& argument : arguments)
        kinds.push_back(argument.kind);
    KindInstance& instance = instances_.find(callee, kinds);
    const Kind result = instances_.result_of(instance);
    if (instance.is_refused) {
        fail(Code::kP022, e.span,
             "'" + shown_name(module_, callee) + "' is called with tuples of too many kinds",
             "pass it tuples of one length, or an array");
        return poison(e.span);
    }
    if (instances_.stands_in(instance))
        return put_in_place(e, callee, result, std::move(arguments), spans);
    e.op = Op::kCall;
    e.callee = instances_.function_of(instance);
    e.operands.clear();
    for (const Parts& argument : arguments)
        e.operands.insert(e.operands.end(), argument.leaves.begin(), argument.leaves.end());
    if (result.form == Kind::Form::kNothing) return {Kind::number(), {&e}};
    return {instances_.result_of(callee, kinds), {&e}};
}

Parts Lowering::put_in_place(const Expr& e, const Function& source, const Kind& result,
                             std::vector<Parts> arguments, const std::vector<Span>& spans) {
    const auto is_this = [&](const InPlace& each) { return each.source == &source; };
    if (std::ranges::any_of(in_place_, is_this)) {
        Diagnostic* const made = fail(
            Code::kP022, e.span,
            "'" + shown_name(module_, source) + "' returns " + a_kind(result) + " and calls itself",
            "pass it an array, and store the results there");
        if (made != nullptr) made->python_may_call = true;
        return poison(e.span, result);
    }
    // A copy with variables of its own, whose body is inserted; a parameter that is never assigned
    // is replaced by the variable that is passed for it.
    Substitution substitution;
    std::unordered_set<const Var*> changed;
    for_each_stmt(source.body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        const auto* loop = stmt.as<For>();
        if (assign != nullptr) changed.insert(assign->var);
        if (loop != nullptr) changed.insert(loop->var);
    });
    const std::size_t count = std::min(source.params.size(), arguments.size());
    for (std::size_t i = 0; i < count; ++i) {
        const Parts& given = arguments[i];
        const bool named = given.kind.is_number() && given.leaves[0]->op == Op::kVar;
        if (named && !changed.contains(source.params[i]))
            substitution.vars[source.params[i]] = given.leaves[0]->var;
    }
    const auto given_by_name = substitution.vars;
    Function* copy = clone_function(module_, source, source.name, substitution);
    std::erase(module_.functions, copy);
    Body& stmts = copy->body;
    for (std::size_t i = 0; i < count; ++i) {
        if (given_by_name.contains(source.params[i])) {
            here_.of[given_by_name.at(source.params[i])] = arguments[i].kind;
        } else {
            Var* param = substitution.vars.at(source.params[i]);
            const Kind kind = lent(arguments[i].kind);
            set(param, std::move(arguments[i]), spans[i]);
            here_.of[param] = kind;
        }
    }
    InPlace place{&source, make_variable(source.name, e.span, source.name),
                  has_optional(result) ? result : Kind(), nullptr, loops_.size()};
    const bool last = put_returns_last(stmts);
    if (!last) {
        place.returned = make_variable("returned", e.span, "returned");
        out_->push_back(assigned(place.returned, truth(false, e.span), e.span));
    }
    in_place_.push_back(place);
    const KindsHere before = here_;
    Body inside;
    Body* const outer = std::exchange(out_, &inside);
    if (!last) loops_.push_back({});
    for (Stmt* stmt : stmts) {
        if (!here_.reachable) break;
        statement(*stmt);
    }
    if (!last) loops_.pop_back();
    out_ = outer;
    const InPlace done = in_place_.back();
    in_place_.pop_back();
    if (last) {
        out_->insert(out_->end(), inside.begin(), inside.end());
    } else {
        // False converts to any type, and shows later passes that the results have values on every
        // exit of the loop.
        for (Var* each : variables(done.result, done.kind))
            out_->push_back(assigned(each, truth(false, e.span), e.span));
        b_.span = e.span;
        inside.push_back(b_.break_());
        out_->push_back(b_.while_(truth(true, e.span), std::move(inside)));
    }
    here_.reachable = before.reachable;
    here_.of[done.result] = done.kind;
    return read(done.result, done.kind, e.span);
}

// Handles a return of an inlined function.
void Lowering::return_in_place(Parts value, Span span) {
    InPlace& place = in_place_.back();
    if (const Kind* kind = find_lent(value.kind)) {
        // Its variables may change until it is called; the values at the call would not.
        fail(Code::kP022, span,
             "'" + shown_name(module_, *place.source) + "' returns " + a_kind(*kind) +
                 ", which reads variables of a function that has not ended",
             "call it here and return its result");
        return;
    }
    value = as_kind(carried(std::move(value), span), place.kind, span);
    if (place.kind.form == Kind::Form::kNothing) {
        place.kind = value.kind;
    } else if (const Kind both = joined(place.kind, value.kind);
               both.form == Kind::Form::kMixed || both.leaf_count() != value.leaves.size()) {
        fail(Code::kP017, span,
             "'" + shown_name(module_, *place.source) + "' returns " + a_kind(place.kind) +
                 " elsewhere, and " + a_kind(value.kind) + " here",
             "return the same kinds of values on every path");
        return;
    } else {
        place.kind = both;
    }
    set(place.result, std::move(value), span);
    if (place.returned == nullptr) return;
    const bool in_loop = loops_.size() > place.loops + 1;
    if (in_loop) {
        out_->push_back(assigned(place.returned, truth(true, span), span));
        for (std::size_t i = place.loops + 1; i < loops_.size(); ++i)
            loops_[i].returns = true;
    }
    b_.span = span;
    out_->push_back(b_.break_());
}

void Lowering::leave_too(Span span) {
    b_.span = span;
    out_->push_back(b_.if_(var(in_place_.back().returned, span), {b_.break_()}));
}

}  // namespace parpy
