// Collects the conditions that typed expressions put on unknown Python integers: those on arguments
// of the entry become requirements of the program, those on parameters of a function become
// demands, which its calls pass on.
#include <algorithm>
#include <unordered_set>

#include "analysis/integers/interval_arithmetic.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/slice_shapes.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// Adds factor * other; false on overflow of 64 bits.
bool add_multiple(ParameterBound& sum, const ParameterBound& other, std::int64_t factor) {
    std::int64_t constant = 0;
    if (__builtin_mul_overflow(other.constant, factor, &constant) ||
        __builtin_add_overflow(sum.constant, constant, &sum.constant)) {
        return false;
    }
    for (const auto& [var, more] : other.terms) {
        std::int64_t added = 0;
        if (__builtin_mul_overflow(more, factor, &added)) return false;
        const auto known = std::ranges::find(sum.terms, var, [](const auto& t) { return t.first; });
        if (known == sum.terms.end()) {
            sum.terms.emplace_back(var, added);
        } else if (__builtin_add_overflow(known->second, added, &known->second)) {
            return false;
        }
    }
    std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
    return true;
}

// The bound sign * value - least, which must be non-negative.
std::optional<ParameterBound> bound_of(const Demand& demand) {
    ParameterBound bound{.terms = {}, .constant = 0};
    if (!add_multiple(bound, demand.value, demand.sign) ||
        __builtin_sub_overflow(bound.constant, demand.least, &bound.constant)) {
        return std::nullopt;
    }
    return bound;
}

// The bound with the arguments of the call in place of the callee's parameters.
std::optional<ParameterBound> in_caller(const ParameterBound& value, const NumberPass& pass) {
    ParameterBound result{.terms = {}, .constant = value.constant};
    for (const auto& [var, factor] : value.terms) {
        const auto given =
            std::ranges::find(pass.numbers, var, [](const auto& number) { return number.first; });
        if (given == pass.numbers.end() || !given->second ||
            !add_multiple(result, *given->second, factor)) {
            return std::nullopt;
        }
    }
    return result;
}

// Drops bounds that never hold; returns whether one always does.
bool one_holds(std::vector<ParameterBound>& bounds) {
    std::erase_if(bounds, [](const auto& b) { return b.terms.empty() && b.constant < 0; });
    return std::ranges::any_of(bounds, [](const auto& b) { return b.terms.empty(); });
}

class Settling {
public:
    Settling(PassContext& context, Instances& instances)
        : context_(context), instances_(instances) {
        for (const NumberPass& pass : instances_.number_passes)
            callers_[pass.callee].push_back(&pass);
        for (const Instance& instance : instances_.all) {
            if (calls_itself(instance)) recursive_.insert(instance.source);
        }
    }

    void run() {
        for (const Demand& demand : instances_.demands)
            ask_callers(demand, {});
    }

private:
    using Chain = std::vector<const Function*>;

    // `chain`: the recursive functions that the demand came through; their own calls are not asked
    // again, since the recursion ends by itself.
    void ask_callers(const Demand& demand, Chain chain) {
        if (recursive_.contains(demand.instance->source)) chain.push_back(demand.instance->source);
        auto& asked = asked_[demand.instance];
        const std::pair question(demand, chain);
        if (std::ranges::find(asked, question) != asked.end()) return;
        asked.push_back(question);
        for (const NumberPass* pass : callers_[demand.instance]) {
            if (std::ranges::find(chain, pass->caller->source) == chain.end())
                ask(demand, *pass, chain);
        }
    }

    void ask(const Demand& demand, const NumberPass& pass, const Chain& chain) {
        const auto value = in_caller(demand.value, pass);
        if (!value) return;
        Demand asked = demand;
        asked.instance = pass.caller;
        asked.value = *value;
        asked.unless = pass.reach.unless;
        for (const ParameterBound& each : demand.unless) {
            if (const auto bound = in_caller(each, pass)) asked.unless.push_back(*bound);
        }
        const auto bound = bound_of(asked);
        if (!bound || one_holds(asked.unless)) return;
        if (bound->terms.empty() && (bound->constant >= 0 || asked.unless.empty())) {
            if (bound->constant < 0) refuse(asked, pass.span);
        } else if (pass.caller->function->kind == FunctionKind::kEntry) {
            Requirement requirement = asked.unless;
            if (!bound->terms.empty()) requirement.insert(requirement.begin(), *bound);
            auto& requirements = context_.module.requirements;
            if (std::ranges::find(requirements, requirement) == requirements.end())
                requirements.push_back(std::move(requirement));
        } else {
            ask_callers(asked, chain);
        }
    }

    bool calls_itself(const Instance& instance) {
        std::vector<const Instance*> reached = {&instance};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            for (const NumberPass* pass : callers_[reached[i]]) {
                if (pass->caller->source == instance.source) return true;
                if (std::ranges::find(reached, pass->caller) == reached.end())
                    reached.push_back(pass->caller);
            }
        }
        return false;
    }

    void refuse(const Demand& demand, Span call) {
        if (!demand.type.is_scalar()) return;  // it fails at run time
        report_once(context_.diagnostics, Code::kP201, call,
                    "the Python integer " + std::to_string(demand.value.constant) +
                        " does not fit " + python_name(demand.type) + ", whose values are " +
                        range_text(demand.type.scalar) + ", in the called function",
                    "use a wider type, or a number in range");
    }

    PassContext& context_;
    Instances& instances_;
    std::unordered_map<const Instance*, std::vector<const NumberPass*>> callers_;
    std::unordered_set<const Function*> recursive_;
    std::unordered_map<const Instance*, std::vector<std::pair<Demand, Chain>>> asked_;
};

}  // namespace

// The only value of the variable; null if it has several, or is no local variable.
const Expr* Typer::only_value(const Var& var) const {
    const Expr* value = nullptr;
    const bool varies = any_stmt(instance_.function->body, [&](const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        if (loop != nullptr && loop->var == &var) return true;
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr || assign->var != &var) return false;
        if (value != nullptr || assign->update) return true;
        value = assign->value;
        return false;
    });
    return varies ? nullptr : value;
}

std::optional<ParameterBound> Typer::in_parameters(const Expr& expr) const {
    const Linear form = linear(expr);
    ParameterBound value{.terms = {}, .constant = form.constant};
    const Function& function = *instance_.function;
    for (const auto& [term, factor] : form.terms) {
        if (term->op != Op::kVar) return std::nullopt;
        const Var* var = term->var;
        const bool given = function.kind == FunctionKind::kEntry
                               ? var->origin.kind == Origin::Kind::kArgument
                               : std::ranges::find(instance_.inputs, var) != instance_.inputs.end();
        const bool changed = any_stmt(function.body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            const auto* loop = stmt.as<For>();
            return (assign != nullptr && assign->var == var) ||
                   (loop != nullptr && loop->var == var);
        });
        if (!given || changed) return std::nullopt;
        value.terms.emplace_back(var, factor);
    }
    return value;
}

void Typer::require(const Expr& expr, std::int64_t sign, std::int64_t least, const Type& type) {
    if (expr.op == Op::kVar && reach_.certain && type.is_scalar()) {
        const Expr* value = only_value(*expr.var);
        const auto constant =
            value != nullptr && value->op == Op::kConst ? constant_integer(value) : std::nullopt;
        const bool holds_it = !constant || (sign > 0 ? *constant >= least : *constant <= -least);
        if (!holds_it) refuse_integer(*constant, expr.span, type);
    }
    const auto value = in_parameters(expr);
    if (!value || value->terms.empty()) return;
    Demand demand{&instance_, *value, sign, least, type, {}};
    if (instance_.function->kind != FunctionKind::kEntry) {
        demand.unless = reach_.unless;
        if (!one_holds(demand.unless)) instances_.demands.push_back(std::move(demand));
        return;
    }
    const auto bound = bound_of(demand);
    auto& known = context_.module.requirements;
    if (bound && std::ranges::find(known, Requirement{*bound}) == known.end()) {
        known.push_back({*bound});
    }
}

// Requires that a float64 has the value of the integer, an element of a tuple.
void Typer::require_exact(const Expr& element) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    const Expr* value = &element;
    while (value->op == Op::kVar) {
        const Expr* assigned = only_value(*value->var);
        if (assigned == nullptr || assigned == value) break;
        value = assigned;
    }
    const auto constant = constant_integer(value);
    if (constant && (*constant > kMost || *constant < -kMost)) {
        refuse_call(
            Code::kP025, element.span,
            "the elements of this tuple are integers and floats, and floats do not hold all "
            "integers as large as " +
                std::to_string(*constant),
            "make all elements integers, or choose outside of the loop");
    } else if (!constant) {
        require(*value, 1, -kMost);
        require(*value, -1, -kMost);
    }
}

void Typer::assume(const Expr& condition, bool holds) {
    if (!rewriting()) return;
    const auto operand = [&](std::size_t i) -> const Expr& { return *condition.operands[i]; };
    if (condition.op == Op::kNot) {
        assume(operand(0), !holds);
        return;
    }
    if (condition.op == (holds ? Op::kAnd : Op::kOr)) {
        assume(operand(0), holds);
        assume(operand(1), holds);
        return;
    }
    if (condition.op == Op::kConst) {
        if ((condition.constant == Constant{true}) != holds) reach_.unless.push_back({{}, 0});
        return;
    }
    const Op op = holds || !is_comparison(condition.op) ? condition.op : negation(condition.op);
    // Not reached for a - b < 0 and the like if the difference is at least 0.
    const auto unless = [&](std::int64_t sign, std::int64_t least) {
        auto a = in_parameters(operand(0));
        const auto b = in_parameters(operand(1));
        ParameterBound bound{{}, -least};
        if (a && b && add_multiple(bound, *a, sign) && add_multiple(bound, *b, -sign))
            reach_.unless.push_back(std::move(bound));
    };
    const bool numbers = is_comparison(op) && operand(0).type == operand(1).type &&
                         operand(0).type.is_scalar() && is_integer(operand(0).type.scalar) &&
                         !is_unsigned_integer(operand(0).type.scalar);
    if (!numbers || op == Op::kNe) return;
    if (op == Op::kEq) {
        unless(1, 1);
        unless(-1, 1);
    } else {
        const bool less = op == Op::kLt || op == Op::kLe;
        unless(less ? 1 : -1, op == Op::kLt || op == Op::kGt ? 0 : 1);
    }
}

// A loop whose range does not follow from integer parameters counts as running.
void Typer::assume(const For& loop) {
    if (!rewriting()) return;
    const auto step = constant_integer(loop.step);
    const auto begin = in_parameters(*loop.begin);
    const auto end = in_parameters(*loop.end);
    if (!step || *step == 0 || !begin || !end) return;
    ParameterBound bound{{}, 0};
    const std::int64_t sign = *step > 0 ? 1 : -1;
    if (add_multiple(bound, *begin, sign) && add_multiple(bound, *end, -sign))
        reach_.unless.push_back(std::move(bound));
}

void settle_demands(PassContext& context, Instances& instances) {
    Settling(context, instances).run();
}

}  // namespace parpy
