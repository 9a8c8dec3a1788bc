// See piece_code.h.
#include "passes/steps/piece_code.h"

#include <algorithm>
#include <utility>

#include "analysis/integers/index_math.h"

namespace parpy {

using namespace ir;

For* steps_of(Module& module, const For& loop, const StepBlock& block) {
    Builder b(module, loop.span);
    if (constant_integer(loop.step) != -1)
        return b.loop(loop.var, b.var(block.first), b.var(block.end));
    IndexMath math(b, Scalar::kI64);
    return b.loop(loop.var, math.add(b.var(block.end), math.number(-1)),
                  math.add(b.var(block.first), math.number(-1)), {}, math.number(-1));
}

For* loop_of(Module& module, const PieceLoop& part, Body inner, const Substitution& renamed) {
    Builder b(module, part.whole->span);
    For* loop = b.loop(part.whole->var, clone(module, part.begin, renamed),
                       clone(module, part.end, renamed), std::move(inner));
    loop->labels = part.whole->labels;
    return loop;
}

Expr* is_outside(Builder& b, Var* var, const Expr* skipped, const Expr* resumes) {
    if (skipped == nullptr) return nullptr;
    return b.binary(Op::kOr, b.binary(Op::kLt, b.var(var), clone(b.module(), skipped)),
                    b.binary(Op::kGe, b.var(var), clone(b.module(), resumes)));
}

Body nest_of_piece(Module& module, const StepPiece& piece, const std::vector<std::size_t>& without,
                   const Substitution& renamed) {
    Body inner = clone(module, piece.statements, renamed);
    Expr* condition = nullptr;
    for (const PieceLoop& part : piece.loops) {
        const auto own = renamed.vars.find(part.whole->var);
        Var* var = own == renamed.vars.end() ? part.whole->var : own->second;
        Builder b(module, part.whole->span);
        Expr* outside = is_outside(b, var, part.skipped, part.resumes);
        if (outside == nullptr) continue;
        condition = condition == nullptr ? outside : b.binary(Op::kAnd, condition, outside);
    }
    if (condition != nullptr)
        inner = {Builder(module, condition->span).if_(condition, std::move(inner))};
    for (std::size_t i = piece.loops.size(); i-- > 0;) {
        if (std::ranges::find(without, i) != without.end()) continue;
        inner = {loop_of(module, piece.loops[i], std::move(inner), renamed)};
    }
    return inner;
}

}  // namespace parpy
