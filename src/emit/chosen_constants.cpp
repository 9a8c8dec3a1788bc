// See chosen_constants.h.
#include "emit/chosen_constants.h"

#include <algorithm>
#include <span>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

ChosenConstants::ChosenConstants(const Function& function)
    : kernel_(function.kind == FunctionKind::kKernel) {
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) {
            values_[assign->var].push_back(assign->value);
        } else if (const auto* store = stmt.as<Store>()) {
            values_[store->array].push_back(store->value);
        } else if (const auto* loop = stmt.as<For>()) {
            loops_[loop->var] = loop;
        }
    });
    // A function may store anything to an array that it receives.
    for_each_expr(function.body, [&](const Expr& e) {
        if (e.op == Op::kArray) values_[e.var].push_back(nullptr);
    });
}

bool ChosenConstants::may_be(const Expr& value) const {
    return source(value) == Source::kChosen;
}

ChosenConstants::Source ChosenConstants::of_variable(const Var& var) const {
    // Meanwhile a value that depends on itself counts as fixed, which adds nothing.
    const auto [at, added] = known_.try_emplace(&var, Source::kFixed);
    if (added) known_[&var] = of_values(var);
    return known_[&var];
}

ChosenConstants::Source ChosenConstants::of_values(const Var& var) const {
    if (loops_.contains(&var)) return Source::kFixed;
    const auto values = values_.find(&var);
    if (values == values_.end()) return kernel_ ? Source::kData : Source::kChosen;
    std::size_t fixed = 0;
    for (const Expr* value : values->second) {
        const Source from = value == nullptr ? Source::kChosen : source(*value);
        if (from == Source::kChosen) return Source::kChosen;
        fixed += from == Source::kFixed ? 1 : 0;
    }
    if (fixed > 1) return Source::kChosen;
    return fixed == values->second.size() && var.type.is_scalar() ? Source::kFixed : Source::kData;
}

ChosenConstants::Source ChosenConstants::source(const Expr& e) const {
    std::span<Expr* const> operands = e.operands;
    switch (e.op) {
        case Op::kConst:
        case Op::kExtent:
            return Source::kFixed;
        case Op::kRegister:
            return Source::kData;
        case Op::kCall:
        case Op::kAtomic:
            return Source::kChosen;
        case Op::kVar:
        case Op::kLoad:
            if (e.type.scalar == Scalar::kBool) return Source::kChosen;
            return of_variable(*e.var);
        case Op::kSelect: {
            operands = operands.subspan(1);
            const bool data = std::ranges::any_of(
                operands, [&](const Expr* arm) { return source(*arm) == Source::kData; });
            return data ? Source::kData : Source::kChosen;
        }
        default:
            break;
    }
    if (e.type.scalar == Scalar::kBool) return Source::kChosen;
    Source sum = Source::kFixed;
    for (const Expr* operand : operands)
        sum = std::max(sum, source(*operand));
    return sum;
}

}  // namespace parpy
