// See block_code.h.
#include "passes/steps/block_code.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/contractions/shifts.h"
#include "analysis/contractions/side_by_side.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kStrip = 16;  // iterations, with up to 64 elements each

bool is_inside(const PieceLoop& loop) {
    return loop.part == PieceLoop::Part::kInside;
}

}  // namespace

BlockCode::BlockCode(Module& module, const For& loop, const StepBlock& block, std::int64_t most)
    : module_(module), loop_(loop), block_(block), most_(most), b_(module, loop.span) {}

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
    For* steps = count_steps();
    threads.clear();
    alone_ = group.pieces.size() == 1;
    for (std::size_t n = 0; n < group.pieces.size(); ++n) {
        StepPiece piece = group.pieces[n];
        Substitution renamed;
        renamed.vars[loop_.var] = step_;
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
    drop_unread(*steps);
    return true;
}

// Removes the values of variables in whose place offsets are used.
void BlockCode::drop_unread(For& steps) const {
    const Uses uses = uses_of(steps.body);
    rewrite_stmts(steps.body, [&](Stmt* stmt, Body& out) {
        const auto* assign = stmt->as<Assign>();
        const bool unread =
            assign != nullptr && ranges_.contains(assign->var) && !uses.read.contains(assign->var);
        if (!unread) out.push_back(stmt);
    });
}

// The loop over the steps of the block, counted from 0, which sets the number of the step.
For* BlockCode::count_steps() {
    Var* count = b_.scalar(loop_.var->name + "_step", Scalar::kI64);
    step_ = module_.make_like(*loop_.var);
    Expr* steps = b_.binary(Op::kSub, b_.var(block_.end), b_.var(block_.first));
    const bool down = constant_integer(loop_.step) == -1;
    Expr* offset = b_.var(count);
    if (down) {
        Expr* last = b_.binary(Op::kSub, clone(module_, steps), b_.integer(1));
        offset = b_.binary(Op::kSub, last, offset);
    }
    ranges_ = {{step_, {block_.first, offset, b_.var(block_.end), most_, nullptr, nullptr, true}}};
    values_ = {};
    Expr* value = b_.binary(Op::kAdd, b_.var(block_.first), clone(module_, offset));
    values_.values[step_] = value;
    return b_.loop(count, b_.integer(0), steps, {b_.assign(step_, clone(module_, value))});
}

// The bound of a variable, relative to `first`, as far as that is known.
Expr* BlockCode::relative(const Expr& bound, Var& first) {
    Expr* apart = b_.binary(Op::kSub, clone(module_, &bound, values_), b_.var(&first));
    return summed(module_, apart);
}

// One loop instead of one or two around `rest`, of which the last one is the innermost.
For* BlockCode::flat(const StepPiece& rest, const std::vector<Side>& sides, Substitution renamed) {
    const For& outer = *sides.front().loop.whole;
    const Span before = std::exchange(b_.span, outer.span);
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
            begin = relative(*clone(module_, part.begin, renamed), *sides[i].first);
            if (inner > 1) begin = b_.binary(Op::kMul, begin, b_.integer(inner));
        }
        Expr* offset = b_.var(number);
        if (inner > 1) offset = b_.binary(Op::kFloorDiv, offset, b_.integer(inner));
        if (i > 0) offset = b_.binary(Op::kMod, offset, b_.integer(sides[i].count));
        if (sides.size() > 1) {
            Var* at = b_.scalar(part.whole->var->name + "_at", Scalar::kI64);
            body.push_back(b_.assign(at, offset));
            offset = b_.var(at);
        }
        Var* var = module_.make_like(*part.whole->var);
        Expr* value = b_.binary(Op::kAdd, b_.var(sides[i].first), clone(module_, offset));
        body.push_back(b_.assign(var, value));
        const Expr* end = is_inside(part) ? b_.var(block_.end) : part.end;
        ranges_[var] = {sides[i].first, offset, end, sides[i].count, part.skipped, part.resumes};
        renamed.vars[part.whole->var] = var;
        values_.values[var] = clone(module_, value);
    }
    Expr* reached = nullptr;  // the bounds of one side may depend on the other
    const auto both = [&](Expr* more) {
        reached = reached == nullptr ? more : b_.binary(Op::kAnd, reached, more);
    };
    for (const Side& side : sides) {
        const Expr* offset = ranges_.at(renamed.vars.at(side.loop.whole->var)).offset;
        const auto bound = [&](const Expr* of) {
            return relative(*clone(module_, of, renamed), *side.first);
        };
        Expr* begin_at = bound(side.loop.begin);
        // Strips begin where their loop does.
        const bool starts = side.first != block_.first || constant_integer(begin_at) == 0;
        if (!starts) both(b_.binary(Op::kGe, clone(module_, offset), begin_at));
        both(b_.binary(Op::kLt, clone(module_, offset), bound(side.loop.end)));
        Var* var = renamed.vars.at(side.loop.whole->var);
        Expr* outside = is_outside(b_, var, side.loop.skipped, side.loop.resumes);
        if (outside != nullptr) both(outside);
    }
    body.push_back(b_.if_(reached, nest_of_piece(module_, rest, {}, renamed)));
    For* made = b_.loop(number, begin, b_.integer(all), std::move(body));
    made->labels = outer.labels;
    b_.span = before;
    return made;
}

}  // namespace parpy
