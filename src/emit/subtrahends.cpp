// See subtrahends.h.
#include "emit/subtrahends.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr int kMost = 2;

// Only the sign of a factor matters, and whether its magnitude is one.
std::int64_t clamped(std::int64_t factor) {
    return std::clamp<std::int64_t>(factor, -kMost, kMost);
}

int times(std::int64_t factor) {
    return static_cast<int>(-std::min<std::int64_t>(clamped(factor), 0));
}

}  // namespace

Subtrahends::Subtrahends(const Function& function) {
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) {
            values_[assign->var].push_back(assign->update ? nullptr : assign->value);
        } else if (const auto* loop = stmt.as<For>()) {
            steps_[loop->var] = loop->step;
            values_[loop->var].push_back(loop->begin);
        }
    });
}

int Subtrahends::of_variable(const Var& var, std::int64_t factor) const {
    // A value that depends on itself may be anything.
    const auto [at, added] = known_.try_emplace({&var, factor}, kMost);
    if (added) known_[{&var, factor}] = of_values(var, factor);
    return known_[{&var, factor}];
}

int Subtrahends::of_values(const Var& var, std::int64_t factor) const {
    const auto values = values_.find(&var);
    if (values == values_.end()) return times(factor);
    int most = 0;
    if (const auto loop = steps_.find(&var); loop != steps_.end()) {
        const auto step = constant_integer(loop->second);
        if (!step) return kMost;
        most = times(clamped(*step) * factor);
    }
    for (const Expr* value : values->second)
        most = std::max(most, value == nullptr ? kMost : count(*value, factor));
    return most;
}

int Subtrahends::count(const Expr& e, std::int64_t factor) const {
    factor = clamped(factor);
    const auto operand = [&](std::size_t i, std::int64_t by) {
        return is_integer(e.operands[i]->type.scalar) ? count(*e.operands[i], factor * by) : 0;
    };
    if (e.op == Op::kConst) return 0;
    if (factor == -kMost) return kMost;  // even if the subtracted term falls itself
    int sum = 0;
    switch (e.op) {
        case Op::kVar:
            return of_variable(*e.var, factor);
        case Op::kLoad:
            return times(factor);
        case Op::kConvert:
            return is_integer(e.operands[0]->type.scalar) ? operand(0, 1) : times(factor);
        case Op::kNeg:
        case Op::kInvert:
            return operand(0, -1);
        case Op::kAdd:
            sum = operand(0, 1) + operand(1, 1);
            break;
        case Op::kSub:
            sum = operand(0, 1) + operand(1, -1);
            break;
        case Op::kMul:
            for (const std::size_t i : {0U, 1U}) {
                if (const auto value = constant_integer(e.operands[i]))
                    return operand(1 - i, clamped(*value));
            }
            [[fallthrough]];
        default:
            // Terms subtracted inside, or left of a shift, may become subtracted parts of it.
            sum = e.op == Op::kShl && factor < 0 ? kMost : times(factor);
            factor = 1;
            for (std::size_t i = 0; i < e.operands.size(); ++i)
                sum += operand(i, 1);
    }
    return std::min(sum, kMost);
}

}  // namespace parpy
