// See index_math.h.
#include "analysis/integers/index_math.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/eval/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

// ---------------------------------------------------------------- linear forms

namespace {

// Two calls are never known to return the same value: their terms are not merged.
void add_term(Linear& form, const Expr& term, std::int64_t factor) {
    if (uses_of(term).calls) {
        form.terms.emplace_back(&term, factor);
        return;
    }
    for (auto at = form.terms.begin(); at != form.terms.end(); ++at) {
        if (same(*at->first, term)) {
            at->second += factor;
            if (at->second == 0) {
                form.terms.erase(at);
            }
            return;
        }
    }
    form.terms.emplace_back(&term, factor);
}

void add_linear(Linear& form, const Expr& expr, std::int64_t factor) {
    if (const auto value = constant_integer(&expr)) {
        form.constant += factor * *value;
        return;
    }
    const auto operand = [&](std::size_t i) -> const Expr& { return *expr.operands[i]; };
    switch (expr.op) {
        case Op::kAdd:
        case Op::kSub:
            add_linear(form, operand(0), factor);
            add_linear(form, operand(1), expr.op == Op::kAdd ? factor : -factor);
            return;
        case Op::kNeg:
            add_linear(form, operand(0), -factor);
            return;
        case Op::kMul:
            for (std::size_t i = 0; i < 2; ++i) {
                if (const auto value = constant_integer(expr.operands[i])) {
                    add_linear(form, operand(1 - i), factor * *value);
                    return;
                }
            }
            break;
        default:
            break;
    }
    add_term(form, expr, factor);
}

}  // namespace

bool is_plain(const Expr& expr) {
    switch (expr.op) {
        case Op::kConst:
        case Op::kVar:
        case Op::kConvert:
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
        case Op::kNeg:
            return std::ranges::all_of(expr.operands, [](const Expr* e) { return is_plain(*e); });
        default:
            return false;
    }
}

std::optional<std::int64_t> Linear::value() const {
    return terms.empty() ? std::optional(constant) : std::nullopt;
}

Linear linear(const Expr& expr) {
    Linear form;
    add_linear(form, expr, 1);
    return form;
}

Linear operator-(const Linear& a, const Linear& b) {
    Linear result = a;
    result.constant -= b.constant;
    for (const auto& [term, factor] : b.terms) {
        add_term(result, *term, -factor);
    }
    return result;
}

// ---------------------------------------------------------------- index arithmetic

Expr* folded(Builder& builder, Expr* expr) {
    rewrite(expr, [&](Expr* node) {
        const auto& operands = node->operands;
        const bool constant = std::ranges::all_of(
            operands, [](const Expr* operand) { return operand->op == Op::kConst; });
        if (operands.empty() || operands.size() > 2 || !constant) return node;
        std::vector<Constant> values;
        for (const Expr* operand : operands)
            values.push_back(operand->constant);
        const auto value =
            evaluate_op(node->op, operands[0]->type.scalar, node->type.scalar, std::span(values));
        return value ? builder.constant(node->type, *value) : node;
    });
    return expr;
}

Expr* IndexMath::copy(const Expr& expr) {
    return clone(b_.module(), &expr);
}

Expr* IndexMath::add(Expr* a, Expr* b) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    if (x && y) {
        return number(*x + *y);
    }
    if (x && b->op == Op::kNeg) {
        return subtract(a, b->operands[0]);
    }
    if (x) {
        return *x == 0 ? b : add(b, a);
    }
    if (!y) {
        return b_.binary(Op::kAdd, a, b);
    }
    const bool sum = a->op == Op::kAdd || a->op == Op::kSub;
    if (const auto inner = sum ? constant_integer(a->operands[1]) : std::nullopt) {
        return add(a->operands[0], number(*y + (a->op == Op::kAdd ? *inner : -*inner)));
    }
    return *y == 0 ? a : *y < 0 ? b_.binary(Op::kSub, a, number(-*y)) : b_.binary(Op::kAdd, a, b);
}

Expr* IndexMath::subtract(Expr* a, Expr* b) {
    if (const auto y = constant_integer(b)) {
        return add(a, number(-*y));
    }
    return b_.binary(Op::kSub, a, b);
}

Expr* IndexMath::multiply(Expr* a, Expr* b) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    if (x && y) {
        return number(*x * *y);
    }
    if (x) {
        return multiply(b, a);
    }
    return y == 1 ? a : y == -1 ? b_.unary(Op::kNeg, a) : b_.binary(Op::kMul, a, b);
}

Expr* IndexMath::divide(Expr* a, Expr* b) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    if (x && y && *y != 0) {
        const bool exact = *x % *y == 0;
        return number(*x / *y - (!exact && (*x < 0) != (*y < 0) ? 1 : 0));
    }
    return y == 1 ? a : b_.binary(Op::kFloorDiv, a, b);
}

Expr* IndexMath::least(Expr* a, Expr* b) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    return x && y ? number(std::min(*x, *y)) : b_.binary(Op::kMin, a, b);
}

Expr* IndexMath::greatest(Expr* a, Expr* b) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    if (x && y) return number(std::max(*x, *y));
    const auto least = y && a->op == Op::kMax ? constant_integer(a->operands[1]) : std::nullopt;
    return least && *least >= *y ? a : b_.binary(Op::kMax, a, b);
}

Expr* IndexMath::sum(const Linear& form) {
    Expr* total = nullptr;
    const auto take = [&](bool positive) {
        for (const auto& [term, factor] : form.terms) {
            if ((factor > 0) != positive) {
                continue;
            }
            Expr* part =
                multiply(copy(*term), number(positive || total == nullptr ? factor : -factor));
            total = total == nullptr ? part : positive ? add(total, part) : subtract(total, part);
        }
    };
    take(true);
    if (total == nullptr && !form.terms.empty() && form.constant != 0) {
        total = number(form.constant);
        take(false);
        return total;
    }
    take(false);
    return total == nullptr ? number(form.constant) : add(total, number(form.constant));
}

}  // namespace parpy
