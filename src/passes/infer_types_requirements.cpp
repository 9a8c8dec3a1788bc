// What typed expressions ask of Python's integers, of which constants are known and others are not:
// of the entry's arguments as requirements of the program, of a function's parameters as demands,
// which its calls pass on.
#include <algorithm>
#include <limits>

#include "ir/visit.h"
#include "passes/infer_types_typer.h"
#include "passes/slice_shapes.h"

namespace parpy {

using namespace ir;

namespace {

// Adds factor * other; false if that leaves 64 bits.
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

// sign * value - least, which must not be negative.
std::optional<ParameterBound> bound_of(const Demand& demand) {
    ParameterBound bound{.terms = {}, .constant = 0};
    if (!add_multiple(bound, demand.value, demand.sign) ||
        __builtin_sub_overflow(bound.constant, demand.least, &bound.constant)) {
        return std::nullopt;
    }
    return bound;
}

// What the parameters of the callee are, put in for them.
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

class Settling {
public:
    Settling(PassContext& context, Instances& instances)
        : context_(context), instances_(instances) {}

    void run() {
        for (std::size_t i = 0; i < instances_.demands.size(); ++i) {
            const Demand demand = instances_.demands[i];
            std::vector<const Function*> chain = {demand.instance->source};
            ask_callers(demand, chain);
        }
    }

private:
    // `chain`: the functions that the demand came through; those that call themselves are asked
    // by others alone, as they know when to end.
    void ask_callers(const Demand& demand, std::vector<const Function*>& chain) {
        for (const NumberPass& pass : instances_.number_passes) {
            if (pass.callee != demand.instance ||
                std::ranges::find(chain, pass.caller->source) != chain.end()) {
                continue;
            }
            const auto value = in_caller(demand.value, pass);
            if (!value) continue;
            Demand asked = demand;
            asked.instance = pass.caller;
            asked.value = *value;
            const auto bound = bound_of(asked);
            if (!bound) continue;
            if (bound->terms.empty()) {
                if (bound->constant < 0) refuse(asked, pass.span);
            } else if (pass.caller->function->kind == FunctionKind::kEntry) {
                auto& known = context_.module.requirements;
                if (std::ranges::find(known, Requirement{*bound}) == known.end()) {
                    known.push_back({*bound});
                }
            } else {
                chain.push_back(pass.caller->source);
                ask_callers(asked, chain);
                chain.pop_back();
            }
        }
    }

    void refuse(const Demand& demand, Span call) {
        if (!demand.type.is_scalar()) return;  // fails when it is reached
        report_once(context_.diagnostics, Code::kP201, call,
                    "the Python integer " + std::to_string(demand.value.constant) +
                        " does not fit " + python_name(demand.type) + ", whose values are " +
                        range_text(demand.type.scalar) + ", in the called function",
                    "use a wider type, or a number in range");
    }

    PassContext& context_;
    Instances& instances_;
};

}  // namespace

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
    const auto value = in_parameters(expr);
    if (!value || value->terms.empty()) return;
    const Demand demand{&instance_, *value, sign, least, type};
    if (instance_.function->kind != FunctionKind::kEntry) {
        instances_.demands.push_back(demand);
        return;
    }
    const auto bound = bound_of(demand);
    auto& known = context_.module.requirements;
    if (bound && std::ranges::find(known, Requirement{*bound}) == known.end()) {
        known.push_back({*bound});
    }
}

void settle_demands(PassContext& context, Instances& instances) {
    Settling(context, instances).run();
}

}  // namespace parpy
