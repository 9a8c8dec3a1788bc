// See shifts.h.
#include "analysis/contractions/shifts.h"

#include <algorithm>

#include "analysis/integers/index_math.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

std::vector<LoopShift> shifts_of(Module& module, const NestOfSums& nest) {
    std::vector<LoopShift> found;
    Loops loops = nest.of_sums();
    for (const NestOfSums::Chain& chain : nest.chains) {
        for (For* loop : chain.loops)
            if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
    }
    const auto of_loop = [&](const Expr* term) {
        return std::ranges::find_if(
            loops, [&](const For* loop) { return term->op == Op::kVar && term->var == loop->var; });
    };
    const auto look = [&](const Linear& index) {
        for (const auto& [outer, by] : index.terms) {
            for (const auto& [inner, step] : index.terms) {
                const auto around = of_loop(outer), loop = of_loop(inner);
                if (around == loops.end() || loop == loops.end() || around >= loop) continue;
                if (by % step != 0) continue;
                Builder b(module, inner->span);
                IndexMath math(b, Scalar::kI64);
                found.push_back(
                    {*loop, math.multiply(clone(module, outer), math.number(by / step))});
            }
        }
    };
    for (const Product& product : nest.chains.front().products) {
        for (const Expr* factor : product.factors) {
            for_each_expr(*factor, [&](const Expr& e) {
                if (e.op != Op::kLoad) return;
                for (const Expr* index : e.operands)
                    if (index->type == Type::of(Scalar::kI64)) look(linear(*index));
            });
        }
    }
    return found;
}

Expr* summed(Module& module, Expr* index) {
    if (index->type != Type::of(Scalar::kI64)) return index;
    Builder b(module, index->span);
    return IndexMath(b, Scalar::kI64).sum(linear(*index));
}

void apply_shift(Module& module, NestOfSums& nest, const LoopShift& shift) {
    Builder b(module, shift.loop->span);
    Substitution to;
    to.values[shift.loop->var] =
        b.binary(Op::kSub, b.var(shift.loop->var), clone(module, shift.by));
    const auto moved = [&](const Expr* e) {
        Expr* copy = clone(module, e, to);
        rewrite(copy, [&](Expr* node) {
            if (node->op == Op::kLoad) {
                for (Expr*& index : node->operands)
                    index = summed(module, index);
            }
            return node;
        });
        return copy;
    };
    for (NestOfSums::Chain& chain : nest.chains) {
        for (Expr*& index : chain.indices)
            index = summed(module, moved(index));
        for (Product& product : chain.products) {
            for (Expr*& factor : product.factors) {
                Expr* made = moved(factor);
                std::ranges::replace(chain.stored, static_cast<const Expr*>(factor),
                                     static_cast<const Expr*>(made));
                factor = made;
            }
        }
    }
    for (auto& [var, value] : nest.values.values)
        value = moved(value);
    nest.values.values[shift.loop->var] = to.values[shift.loop->var];
}

}  // namespace parpy
