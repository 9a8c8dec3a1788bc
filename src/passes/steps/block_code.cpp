// See block_code.h.
#include "passes/steps/block_code.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/contractions/side_by_side.h"
#include "analysis/uses.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kStrip = 16;  // iterations, with up to 64 elements each

bool is_inside(const PieceLoop& loop) {
    return loop.part == PieceLoop::Part::kInside;
}

}  // namespace

BlockCode::BlockCode(Module& module, const For& loop, const StepBlock& block, std::int64_t most)
    : module_(module),
      loop_(loop),
      block_(block),
      most_(most),
      b_(module, loop.span) {}

BlockCode::Sides BlockCode::most_sides(const StepGroup& group) {
    Sides result;
    for (const StepPiece& piece : group.pieces) {
        const std::size_t strips = group.outer.empty() ? 0 : 1;
        const std::size_t rest = piece.loops.size() - group.outer.size();
        result.push_back(std::min<std::size_t>(strips + rest, 2));
    }
    return result;
}

bool BlockCode::make(const StepGroup& group, const Sides& sides, bool staged) {
    const bool strips = !group.outer.empty();
    const StepPiece& front = group.pieces.front();
    const PieceLoop* whole = strips ? &front.loops[group.outer.back()[0]] : nullptr;
    Var* number = b_.scalar(strips ? whole->whole->var->name + "_strip" : loop_.var->name + "_once",
                            Scalar::kI64);
    For* steps = steps_of(module_, loop_, block_);
    const Expr* in_block = b_.binary(Op::kSub, b_.var(loop_.var), b_.var(block_.first));
    ranges_ = {{loop_.var, {block_.first, in_block, b_.var(block_.end), most_}}};
    threads.clear();
    alone_ = group.pieces.size() == 1;
    for (std::size_t n = 0; n < group.pieces.size(); ++n) {
        StepPiece piece = group.pieces[n];
        Substitution renamed;
        std::vector<std::size_t> taken;
        for (const auto& shared : group.outer) {
            taken.push_back(shared[n]);
            if (&shared == &group.outer.back()) continue;
            renamed.vars[piece.loops[shared[n]].whole->var] = front.loops[shared[0]].whole->var;
        }
        std::vector<Side> own;
        if (strips) own.push_back({piece.loops[taken.back()], number, kStrip});
        std::ranges::sort(taken, std::greater<>());
        for (const std::size_t loop : taken)
            piece.loops.erase(piece.loops.begin() + static_cast<std::ptrdiff_t>(loop));
        while (own.size() < sides[n] && !piece.loops.empty() && is_inside(piece.loops.front())) {
            own.push_back({piece.loops.front(), block_.first, most_});
            piece.loops.erase(piece.loops.begin());
        }
        if (strips && !piece.loops.empty()) return false;
        if (own.empty()) {
            const Body body = nest_of_piece(module_, piece, {}, renamed);
            steps->body.insert(steps->body.end(), body.begin(), body.end());
            threads.push_back(nullptr);
            continue;
        }
        // Neighbouring threads store neighbouring elements.
        if (own.size() == 2 && stores_along(piece.statements, *own[0].loop.whole))
            std::swap(own[0], own[1]);
        threads.push_back(flat(piece, own, std::move(renamed)));
        steps->body.push_back(threads.back());
    }
    For* block = strips ? b_.loop(number, clone(module_, whole->begin), clone(module_, whole->end),
                                  {steps}, b_.integer(kStrip))
                        : b_.loop(number, b_.integer(0), b_.integer(1), {steps});
    blocks = {block};
    top = block;
    for (std::size_t i = strips ? group.outer.size() - 1 : 0; i-- > 0;) {
        top = loop_of(module_, front.loops[group.outer[i][0]], {top}, {});
        blocks.insert(blocks.begin(), top);
    }
    if (staged) stage_arrays(module_, *block, *steps, block_, ranges_);
    return true;
}

// One loop instead of one or two around `rest`, of which the last one is the innermost.
For* BlockCode::flat(const StepPiece& rest, const std::vector<Side>& sides, Substitution renamed) {
    const For& outer = *sides.front().loop.whole;
    std::string name = outer.var->name;
    std::int64_t all = 1;
    for (const Side& side : sides) {
        all *= side.count;
        if (&side != &sides.front()) name += "_" + side.loop.whole->var->name;
    }
    Var* number = b_.scalar(sides.size() == 1 ? name + "_at" : name, Scalar::kI64);
    Expr* begin = b_.integer(0);
    Body body;
    std::int64_t inner = all;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const PieceLoop& part = sides[i].loop;
        inner /= sides[i].count;
        // The outer loop of a triangle begins behind the step. It is not to be interchanged with
        // the steps, which a loop of a fixed range may be where there is no other.
        if (i == 0 && alone_ && uses_of(*part.begin).read.contains(loop_.var)) {
            begin = b_.binary(Op::kSub, clone(module_, part.begin, renamed),
                              b_.var(sides[i].first));
            if (inner > 1) begin = b_.binary(Op::kMul, begin, b_.integer(inner));
        }
        Expr* offset = b_.var(number);
        if (inner > 1) offset = b_.binary(Op::kFloorDiv, offset, b_.integer(inner));
        if (i > 0) offset = b_.binary(Op::kMod, offset, b_.integer(sides[i].count));
        Var* var = module_.make_like(*part.whole->var);
        body.push_back(b_.assign(
            var, b_.binary(Op::kAdd, b_.var(sides[i].first), clone(module_, offset))));
        const Expr* end = is_inside(part) ? b_.var(block_.end) : part.end;
        ranges_[var] = {sides[i].first, offset, end, sides[i].count};
        renamed.vars[part.whole->var] = var;
    }
    Expr* reached = nullptr;  // the bounds of one side may depend on the other
    for (const Side& side : sides) {
        Var* var = renamed.vars.at(side.loop.whole->var);
        for (const bool from : {true, false}) {
            const Expr* bound = from ? side.loop.begin : side.loop.end;
            Expr* holds =
                b_.binary(from ? Op::kGe : Op::kLt, b_.var(var), clone(module_, bound, renamed));
            reached = reached == nullptr ? holds : b_.binary(Op::kAnd, reached, holds);
        }
    }
    body.push_back(b_.if_(reached, nest_of_piece(module_, rest, {}, renamed)));
    For* made = b_.loop(number, begin, b_.integer(all), std::move(body));
    made->labels = outer.labels;
    return made;
}

}  // namespace parpy
