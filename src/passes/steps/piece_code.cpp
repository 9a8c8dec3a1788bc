// See piece_code.h.
#include "passes/steps/piece_code.h"

#include <algorithm>
#include <utility>

#include "analysis/integers/index_math.h"
#include "ir/builder.h"

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

Body nest_of_piece(Module& module, const StepPiece& piece, const std::vector<std::size_t>& without,
                   const Substitution& renamed) {
    Body inner = clone(module, piece.statements, renamed);
    for (std::size_t i = piece.loops.size(); i-- > 0;) {
        if (std::ranges::find(without, i) != without.end()) continue;
        inner = {loop_of(module, piece.loops[i], std::move(inner), renamed)};
    }
    return inner;
}

}  // namespace parpy
