// See block_steps.h.
#include "passes/steps/block_steps.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/contractions/products.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/steps/block_code.h"
#include "passes/steps/early_updates.h"
#include "passes/steps/piece_code.h"
#include "passes/steps/step_pieces.h"
#include "passes/steps/step_versions.h"
#include "passes/steps/sums_in_elements.h"
#include "passes/wanted.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::size_t kMostPieces = 16;  // each pair of them needs a dependence analysis

struct Target {
    std::int64_t steps;  // of a block
    double least;        // the fewest steps of a loop that is split
    bool one_block;      // the part inside of the block may run in one block of threads
    bool versions;       // steps may keep the elements that they find (step_versions.h)
    bool early;          // updates by earlier steps run at the ends of these (early_updates.h)
};
constexpr Target kCpu = {64, 256, false, false, false};
constexpr Target kCuda = {64, 128, true, true, true};

// PARPY_BLOCK_STEPS: 0 disables the pass, 2 splits every loop that can be split.
Wanted wanted() {
    return wanted_by("PARPY_BLOCK_STEPS");
}

class Blocking {
public:
    Blocking(PassContext& context, const Target& target)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic),
          target_(target) {}

    // `keep`: replaces the loops that it returns notes for.
    std::vector<StepsNote> run(bool keep) {
        keep_ = keep;
        if (wanted() != Wanted::kNever) body(entry_.body);
        if (keep_) {
            entry_.body.insert(entry_.body.begin(), made_.begin(), made_.end());
            rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
                const auto* alloc = stmt->as<Alloc>();
                if (alloc == nullptr || std::ranges::find(unused_, alloc->array) == unused_.end())
                    out.push_back(stmt);
            });
        }
        return std::move(notes_);
    }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop != nullptr && (adds_products(loop->body, 1) || may_keep(*loop))) {
                if (loops().legal(*loop) || block(stmts, i)) continue;
            }
            for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
        }
    }

    [[nodiscard]] bool may_keep(For& loop) const {
        return target_.versions && StepVersions::may_help(loop);
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr) loops_ = std::make_unique<ParallelLoops>(entry_, deterministic_);
        return *loops_;
    }

    // Replaces a loop by blocks of steps, or leaves it unchanged.
    bool block(Body& stmts, std::size_t place) {
        auto* loop = stmts[place]->as<For>();
        const Uses uses = uses_of(loop->body);
        const auto is_bound = [](const Stmt& stmt) { return pragma_of(stmt).asks_for_more(); };
        const bool fixed = (constant_integer(loop->step) == 1 || counts_down(*loop)) &&
                           loop->var->type == Type::of(Scalar::kI64) && !has_pragma(*loop) &&
                           !any_stmt(loop->body, is_bound) && is_fixed(*loop->begin, uses) &&
                           is_fixed(*loop->end, uses) && !is_wanted_later(uses.written, *loop);
        const double steps = loops().traffic().trips(*loop);
        if (!fixed || (wanted() != Wanted::kAlways && steps < target_.least)) return false;
        using enum Form;
        const bool adds = adds_products(loop->body, 1);
        bool done = adds && target_.early && in_blocks(*loop, stmts[place], kEarly);
        if (!done) done = adds && in_blocks(*loop, stmts[place], kPlain);
        if (!done) done = may_keep(*loop) && in_blocks(*loop, stmts[place], kKeeps);
        const auto* blocks = std::exchange(stmts[place], loop)->as<For>();
        loops_ = nullptr;
        if (!done) return false;
        notes_.push_back({loop, "blocks of " + std::to_string(target_.steps) + " steps, in " +
                                    std::to_string(blocks->body.size() - 1) + " parts"});
        if (!keep_) return true;
        loop->var = blocks->var;
        loop->begin = blocks->begin;
        loop->end = blocks->end;
        loop->step = blocks->step;
        loop->body = blocks->body;
        loop->labels.clear();
        return true;
    }

    [[nodiscard]] bool is_wanted_later(const VarSet& scalars, const For& loop) const {
        const Liveness liveness(entry_);
        const VarSet& live = liveness.after(&loop);
        return std::ranges::any_of(scalars, [&](const Var* v) { return live.contains(v); });
    }

    static bool is_fixed(const Expr& bound, const Uses& uses) {
        return uses_of(bound).loaded.empty() && invariant(bound, uses);
    }

    // How steps are rewritten before they are cut: updates by earlier steps move to the ends of
    // these; steps keep the elements that they find, which others overwrite.
    enum class Form : std::uint8_t { kPlain, kEarly, kKeeps };

    bool in_blocks(For& loop, Stmt*& place, Form form) {
        Builder b(module_, loop.span);
        const StepBlock block = {b.scalar(loop.var->name + "_first", Scalar::kI64),
                                 b.scalar(loop.var->name + "_end", Scalar::kI64)};
        step_ = loop.var;
        // Replaces the loop while the copy is judged.
        auto* whole = clone(module_, static_cast<const Stmt*>(&loop))->as<For>();
        for_each_stmt(whole->body, drop_pragmas);  // pieces run in parallel where it is proved
        place = whole;
        const SumsInElements sums(module_, *whole, deterministic_);
        std::optional<StepVersions> versions;
        const auto free = [&](For* each) { return independent(*each); };
        loops_ = nullptr;
        if (form == Form::kEarly && !(sums.proved(loops()) && updates_early(*whole, place)))
            return false;
        if (form == Form::kKeeps) {
            versions.emplace(module_, *whole, block, target_.steps);
            loops_ = nullptr;
            if (!sums.proved(loops()) || !versions->proved(loops(), free)) return false;
            versions->apply();
            loops_ = nullptr;
        }
        const auto all = pieces_of(module_, *whole, block, target_.one_block);
        if (!all || !all->cut || all->pieces.size() > kMostPieces) return false;
        if (form == Form::kPlain && !sums.proved(loops())) return false;
        if (!std::ranges::all_of(all->mixed, free)) return false;

        For* steps = steps_of(module_, *whole, block);
        For* blocks = around(*whole, block, steps);
        place = blocks;
        std::vector<Body> parts;
        for (const StepPiece& piece : all->pieces) {
            parts.push_back(nest_of_piece(module_, piece, {}, {}));
            steps->body.insert(steps->body.end(), parts.back().begin(), parts.back().end());
        }
        loops_ = nullptr;
        const std::vector<std::vector<std::size_t>> order = in_order(*steps, parts);
        if (order.size() < 2) return false;
        Groups groups;
        for (const auto& members : order) {
            Group& group = groups.emplace_back();
            for (const std::size_t number : members)
                group.pieces.push_back(all->pieces[number]);
            group.outer = shared_loops(group);
        }
        settle(*blocks, groups, *whole, block);
        for_each_stmt(static_cast<Stmt&>(*blocks), [&](Stmt& stmt) { keep_label(stmt); });
        if (!std::ranges::any_of(groups, [&](const Group& group) { return waits(group); }))
            return false;
        if (versions) {
            for (Var* array : versions->arrays())
                made_.push_back(Builder(module_, loop.span).alloc(array));
            unused_.insert(unused_.end(), versions->unused().begin(), versions->unused().end());
        }
        return true;
    }

    // Moves updates by earlier steps to the ends of these; false: there are none, or they may not.
    bool updates_early(For& whole, Stmt*& place) {
        EarlyUpdates early(module_, whole);
        if (!early.found()) return false;
        const Nest around = early.around();
        if (!std::ranges::all_of(around, [&](For* each) { return independent(*each); }))
            return false;
        const EarlyUpdates::Question question = early.question();
        place = question.loops;
        loops_ = nullptr;
        const bool apart =
            !loops().conflict(*question.pair, question.updates, question.others, true);
        place = &whole;
        loops_ = nullptr;
        if (apart) early.apply();
        return apart;
    }

    // ------------------------------------------------------------ pieces

    static bool counts_down(const For& loop) { return constant_integer(loop.step) == -1; }

    // Makes `for first in range(begin, end, block): end = …; steps`.
    For* around(const For& loop, const StepBlock& block, Stmt* steps) {
        Builder b(module_, loop.span);
        IndexMath math(b, Scalar::kI64);
        Expr *begin = clone(module_, loop.begin), *end = clone(module_, loop.end);
        Expr* past = clone(module_, loop.end);
        if (!counts_down(loop)) {
            Expr* other =
                math.least(math.add(b.var(block.first), math.number(target_.steps)), past);
            return b.loop(block.first, begin, end, {b.assign(block.end, other), steps},
                          math.number(target_.steps));
        }
        Expr* other = math.greatest(math.add(b.var(block.end), math.number(-target_.steps)),
                                    math.add(past, math.number(1)));
        return b.loop(block.end, math.add(begin, math.number(1)), math.add(end, math.number(1)),
                      {b.assign(block.first, other), steps}, math.number(-target_.steps));
    }

    // The pieces in groups that must run together, in the order of the groups: pieces of a group
    // depend on each other in both directions, in some steps.
    std::vector<std::vector<std::size_t>> in_order(const For& steps,
                                                   const std::vector<Body>& parts) {
        const std::size_t count = parts.size();
        std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
        for (std::size_t a = 0; a < count; ++a) {
            for (std::size_t b = 0; b < count; ++b) {
                before[a][b] = a != b && loops().conflict(steps, parts[a], parts[b], a < b);
            }
        }
        for (std::size_t via = 0; via < count; ++via)
            for (std::size_t a = 0; a < count; ++a)
                for (std::size_t b = 0; b < count; ++b)
                    if (before[a][via] && before[via][b]) before[a][b] = true;
        std::vector<std::vector<std::size_t>> groups;
        std::vector<bool> done(count);
        while (std::ranges::find(done, false) != done.end()) {
            for (std::size_t next = 0; next < count; ++next) {
                const auto together = [&](std::size_t other) {
                    return other == next || (before[other][next] && before[next][other]);
                };
                bool ready = !done[next];
                for (std::size_t other = 0; other < count; ++other)
                    ready = ready && (done[other] || !before[other][next] || together(other));
                if (!ready) continue;
                std::vector<std::size_t>& group = groups.emplace_back();
                for (std::size_t other = 0; other < count; ++other) {
                    if (!together(other)) continue;
                    group.push_back(other);
                    done[other] = true;
                }
                break;
            }
        }
        return groups;
    }

    // ------------------------------------------------------------ groups

    using Shared = std::vector<std::size_t>;
    using Ranges = std::vector<Shared>;
    struct Group : StepGroup {
        std::vector<For*> around;  // loops of the code that are around the steps
        For* steps = nullptr;
    };
    using Groups = std::vector<Group>;

    // The loops whose range is the same in all steps and pieces.
    Ranges shared_loops(const Group& group) {
        Ranges result;
        const StepPiece& first = group.pieces.front();
        const auto same_range = [](const PieceLoop& a, const PieceLoop& b) {
            return same(*a.begin, *b.begin) && same(*a.end, *b.end) &&
                   (a.skipped == nullptr) == (b.skipped == nullptr);
        };
        for (std::size_t i = 0; i < first.loops.size(); ++i) {
            if (!is_fixed(first, i, group.pieces.size() == 1 ? result : Ranges{})) continue;
            Shared shared = {i};
            for (std::size_t n = 1; n < group.pieces.size(); ++n) {
                const StepPiece& piece = group.pieces[n];
                for (std::size_t j = 0; j < piece.loops.size(); ++j) {
                    const bool taken = std::ranges::any_of(
                        result, [&](const Shared& other) { return other[n] == j; });
                    if (shared.size() != n || taken || !is_fixed(piece, j, {})) continue;
                    if (same_range(piece.loops[j], first.loops[i])) shared.push_back(j);
                }
            }
            if (shared.size() == group.pieces.size()) result.push_back(std::move(shared));
        }
        return result;
    }

    // Whether its range depends on no step, and on no loop of the piece but those around.
    [[nodiscard]] bool is_fixed(const StepPiece& piece, std::size_t number,
                                const Ranges& around) const {
        const PieceLoop& part = piece.loops[number];
        const auto reads = [&](const Var* var) {
            return uses_of(*part.begin).read.contains(var) || uses_of(*part.end).read.contains(var);
        };
        if (reads(step_)) return false;
        for (std::size_t i = 0; i < piece.loops.size(); ++i) {
            const bool outside = std::ranges::any_of(
                around, [&](const Shared& shared) { return shared.front() == i; });
            if (!outside && reads(piece.loops[i].whole->var)) return false;
        }
        return true;
    }

    // Drops loops whose range depends on one that is no longer around.
    void drop_unfixed(Group& group) const {
        Ranges kept;
        for (Shared& shared : group.outer) {
            if (is_fixed(group.pieces.front(), shared.front(), kept))
                kept.push_back(std::move(shared));
        }
        group.outer = std::move(kept);
    }

    // The code of the groups in the blocks, each with as many loops around its steps as possible.
    void settle(For& blocks, Groups& groups, const For& loop, const StepBlock& block) {
        const Body begin = {blocks.body.front()};
        for (bool settled = false; !settled;) {
            blocks.body = begin;
            for (Group& group : groups)
                blocks.body.push_back(code(group, loop, block));
            loops_ = nullptr;
            settled = true;
            for (Group& group : groups) {
                for (std::size_t i = group.around.size(); i-- > 0;) {
                    if (independent(*group.around[i])) continue;
                    group.outer.erase(group.outer.begin() + static_cast<std::ptrdiff_t>(i));
                    settled = false;
                }
                drop_unfixed(group);
            }
        }
        if (!target_.one_block) return;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (independent(*groups[i].steps)) continue;
            in_blocks_of_threads(groups[i], loop, block, blocks.body[i + 1]);
            loops_ = nullptr;
        }
    }

    // Replaces the code of a group by code for blocks of threads, or leaves it unchanged.
    void in_blocks_of_threads(const Group& group, const For& loop, const StepBlock& block,
                              Stmt*& place) {
        Stmt* before = place;
        const bool strips = !group.outer.empty();
        BlockCode code(module_, loop, block, target_.steps);
        BlockCode::Sides sides = BlockCode::most_sides(group);
        if (strips && std::ranges::max(sides) < 2) return;
        const auto fits = [&](bool staged) {
            if (!code.make(group, sides, staged)) return false;
            place = code.top;
            loops_ = nullptr;
            return std::ranges::all_of(code.blocks, [&](For* each) { return independent(*each); });
        };
        for (bool settled = false; !settled;) {
            settled = true;
            if (!fits(/*staged=*/false)) {
                place = before;
                return;
            }
            for (std::size_t n = 0; n < sides.size(); ++n) {
                if (code.threads[n] == nullptr || independent(*code.threads[n])) continue;
                --sides[n];
                settled = false;
            }
            if (strips && std::ranges::min(sides) == 0) {
                place = before;
                return;
            }
        }
        Stmt* plain = place;
        const auto alone = [&](For* each) { return each == nullptr || independent(*each); };
        if (!fits(/*staged=*/true) || !std::ranges::all_of(code.threads, alone)) place = plain;
    }

    // Whether the loop is independent in every call.
    bool independent(For& loop) {
        return loops().independence(loop) == Independence::kFull &&
               loops().facts(loop).conditions.empty();
    }

    Stmt* code(Group& group, const For& loop, const StepBlock& block) {
        const StepPiece& first = group.pieces.front();
        group.steps = steps_of(module_, loop, block);
        for (std::size_t n = 0; n < group.pieces.size(); ++n) {
            Substitution renamed;
            std::vector<std::size_t> without;
            for (const Shared& shared : group.outer) {
                without.push_back(shared[n]);
                renamed.vars[group.pieces[n].loops[shared[n]].whole->var] =
                    first.loops[shared[0]].whole->var;
            }
            const Body inner = nest_of_piece(module_, group.pieces[n], without, renamed);
            group.steps->body.insert(group.steps->body.end(), inner.begin(), inner.end());
        }
        group.around.clear();
        Stmt* top = group.steps;
        for (std::size_t i = group.outer.size(); i-- > 0;) {
            For* outer = loop_of(module_, first.loops[group.outer[i][0]], {top}, {});
            group.around.insert(group.around.begin(), outer);
            top = outer;
        }
        return top;
    }

    // Whether blocks are made for this group: updates by products, of elements outside of the block
    // or by such elements, which may run at once.
    bool waits(const Group& group) {
        if (group.pieces.size() != 1) return false;
        const StepPiece& piece = group.pieces.front();
        const auto count = [&](PieceLoop::Part part) {
            return std::ranges::count(piece.loops, part, &PieceLoop::part);
        };
        return piece.statements.size() == 1 && adds_products(*piece.statements.front()) &&
               count(PieceLoop::Part::kOutside) > 0 && count(PieceLoop::Part::kInside) == 0 &&
               (!group.around.empty() || independent(*group.steps));
    }

    // A mapping by hand means loops that may run in parallel; other loops lose their labels.
    void keep_label(Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop != nullptr && !loop->labels.empty() && !loops().legal(*loop)) loop->labels.clear();
    }

    Module& module_;
    Function& entry_;
    const bool deterministic_;
    const Target& target_;
    bool keep_ = true;
    std::vector<StepsNote> notes_;
    Body made_;                             // allocations of arrays that steps keep elements in
    std::vector<const Var*> unused_;        // arrays that are no longer used
    const Var* step_ = nullptr;             // of the current loop
    std::unique_ptr<ParallelLoops> loops_;  // of the function as it is now
};

}  // namespace

void block_cpu_steps(PassContext& context) {
    Blocking(context, kCpu).run(/*keep=*/true);
}

void block_cuda_steps(PassContext& context) {
    Blocking(context, kCuda).run(/*keep=*/true);
}

std::vector<StepsNote> cpu_steps_notes(PassContext& context) {
    return Blocking(context, kCpu).run(/*keep=*/false);
}

std::vector<StepsNote> cuda_steps_notes(PassContext& context) {
    return Blocking(context, kCuda).run(/*keep=*/false);
}

}  // namespace parpy
