// See step_pieces.h.
#include "passes/steps/step_pieces.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr int kMostFacts = 5;  // in one proof

class Cutter {
public:
    Cutter(Module& module, const For& loop, const StepBlock& block, bool joined)
        : b_(module, loop.span),
          math_(b_, Scalar::kI64),
          loop_(loop),
          block_(block),
          joined_(joined) {}

    std::optional<StepPieces> run() {
        if (!computes_alone() || !find_axes()) return std::nullopt;
        Loops around;
        if (!collect(loop_.body, around)) return std::nullopt;
        if (!keeps_scalars()) return std::nullopt;
        first_ = b_.var(block_.first);
        end_ = b_.var(block_.end);
        const Linear first = of(block_.first), end = of(block_.end), step = of(loop_.var);
        const bool down = constant_integer(loop_.step) == -1;
        Linear least = linear(*(down ? loop_.end : loop_.begin)),
               past = linear(*(down ? loop_.begin : loop_.end));
        if (down) {
            ++least.constant;
            ++past.constant;
        }
        facts_ = {first - least, past - end, step - first, minus_one(end - step)};
        for (const Leaf& leaf : leaves_) {
            StepPiece piece;
            piece.statements = leaf.statements;
            cut(leaf, piece);
        }
        find_mixed();
        return std::move(result_);
    }

private:
    using Loops = std::vector<For*>;
    struct Leaf {
        Loops loops;
        Body statements;
    };

    // ------------------------------------------------------------ the text

    [[nodiscard]] bool computes_alone() const {
        const Uses uses = uses_of(loop_.body);
        const bool plain = !uses.calls && uses.allocated.empty() && only_computes(loop_.body) &&
                           !contains_jump(loop_.body);
        return plain && !any_stmt(loop_.body, [](const Stmt& stmt) {
                   const auto* store = stmt.as<Store>();
                   return store != nullptr && store->atomic;
               });
    }

    // Finds the axes of stored arrays along which both the steps and other loops walk.
    bool find_axes() {
        const Uses uses = uses_of(loop_.body);
        const auto note = [&](const Var* array, const std::vector<Expr*>& indices) {
            if (!uses.stored.contains(array)) return;
            for (std::size_t axis = 0; axis < indices.size(); ++axis) {
                for (Var* var : uses_of(*indices[axis]).read)
                    along_[{array, axis}].insert(var);
            }
        };
        for_each_expr(loop_.body, [&](const Expr& e) {
            if (e.op == Op::kLoad) note(e.var, e.operands);
        });
        for_each_stmt(loop_.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) note(store->array, store->indices);
        });
        return !along_.empty();
    }

    [[nodiscard]] bool goes_along(const For& loop) const {
        return std::ranges::any_of(along_, [&](const auto& axis) {
            return axis.second.contains(loop.var) && axis.second.contains(loop_.var);
        });
    }

    bool collect(const Body& body, Loops& around) {
        Body simple;
        const auto flush = [&] {
            if (!simple.empty()) leaves_.push_back({around, std::exchange(simple, {})});
        };
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop == nullptr) {
                if (contains_loop(*stmt)) return false;
                simple.push_back(stmt);
                continue;
            }
            flush();
            if (!is_counted(*loop)) return false;
            around.push_back(loop);
            if (!collect(loop->body, around)) return false;
            around.pop_back();
        }
        flush();
        return true;
    }

    // Whether it has step 1, and bounds that depend on loops around alone.
    [[nodiscard]] bool is_counted(const For& loop) const {
        Uses uses = uses_of(loop_.body);
        for_each_stmt(loop_.body, [&](const Stmt& stmt) {
            if (const auto* inner = stmt.as<For>()) uses.written.erase(inner->var);
        });
        uses.written.erase(loop_.var);
        const auto fixed = [&](const Expr& bound) {
            return uses_of(bound).loaded.empty() && invariant(bound, uses);
        };
        return constant_integer(loop.step) == 1 && loop.var->type == Type::of(Scalar::kI64) &&
               fixed(*loop.begin) && fixed(*loop.end);
    }

    // Whether each scalar is assigned and read within one iteration of a leaf.
    [[nodiscard]] bool keeps_scalars() const {
        VarSet assigned;
        for (const Leaf& leaf : leaves_)
            assigned.insert(uses_of(leaf.statements).written);
        return std::ranges::all_of(leaves_, [&](const Leaf& leaf) {
            return std::ranges::none_of(exposed_reads(leaf.statements),
                                        [&](const Var* v) { return assigned.contains(v); });
        });
    }

    // ------------------------------------------------------------ bounds

    Linear of(Var* var) { return linear(*b_.var(var)); }
    static Linear minus_one(Linear value) {
        --value.constant;
        return value;
    }

    // Whether `value` is provably non-negative: a sum of facts and of a non-negative number.
    [[nodiscard]] bool proved(const Linear& value, int facts = kMostFacts) const {
        if (const auto number = value.value()) return *number >= 0;
        const auto helps = [&](const Linear& fact) {
            return std::ranges::any_of(fact.terms, [&](const auto& a) {
                return std::ranges::any_of(value.terms, [&](const auto& b) {
                    return same(*a.first, *b.first) && (a.second > 0) == (b.second > 0);
                });
            });
        };
        return facts > 0 && std::ranges::any_of(facts_, [&](const Linear& fact) {
                   return helps(fact) && proved(value - fact, facts - 1);
               });
    }
    [[nodiscard]] bool at_least(const Expr& a, const Expr& b) const {
        return proved(linear(a) - linear(b));
    }

    Expr* greater(Expr* a, Expr* b) {
        if (at_least(*a, *b)) return a;
        return at_least(*b, *a) ? b : math_.greatest(a, b);
    }
    Expr* less(Expr* a, Expr* b) {
        if (at_least(*b, *a)) return a;
        return at_least(*a, *b) ? b : math_.least(a, b);
    }

    // Whether a comparison of integers holds in every iteration of a piece; nothing if unknown.
    [[nodiscard]] std::optional<bool> truth(const Expr& e) const {
        if (e.op == Op::kAnd) {
            const auto a = truth(*e.operands[0]), b = truth(*e.operands[1]);
            if (a && b) return *a && *b;
            return (a && !*a) || (b && !*b) ? std::optional(false) : std::nullopt;
        }
        if ((e.op != Op::kEq && e.op != Op::kNe) || e.operands[0]->type != Type::of(Scalar::kI64)) {
            return std::nullopt;
        }
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            const Expr& other = *e.operands[1 - i];
            const bool outside =
                e.operands[i]->op == Op::kVar && outside_.contains(e.operands[i]->var);
            if (outside && proved(linear(other) - linear(*first_)) &&
                proved(minus_one(linear(*end_) - linear(other)))) {
                return e.op == Op::kNe;
            }
        }
        const Linear apart = linear(*e.operands[0]) - linear(*e.operands[1]);
        const Linear back = linear(*e.operands[1]) - linear(*e.operands[0]);
        if (proved(minus_one(apart)) || proved(minus_one(back))) return e.op == Op::kNe;
        return std::nullopt;
    }

    // The statements, without conditions that hold in the piece or that never do.
    [[nodiscard]] Body decided(const Body& statements) const {
        Body result;
        for (Stmt* stmt : statements) {
            auto* branch = stmt->as<If>();
            const auto holds = branch == nullptr ? std::nullopt : truth(*branch->condition);
            if (!holds) {
                result.push_back(stmt);
                continue;
            }
            const Body inside = decided(*holds ? branch->then_body : branch->else_body);
            result.insert(result.end(), inside.begin(), inside.end());
        }
        return result;
    }

    // Enumerates all parts of the leaf's loops from the next one on.
    void cut(const Leaf& leaf, StepPiece& piece) {
        const std::size_t level = piece.loops.size();
        if (level == leaf.loops.size()) {
            StepPiece& made = result_.pieces.emplace_back(piece);
            made.statements = decided(piece.statements);
            if (made.statements.empty()) result_.pieces.pop_back();
            return;
        }
        For* loop = leaf.loops[level];
        const auto copy = [&](const Expr* e) { return clone(b_.module(), e); };
        std::vector<PieceLoop> parts;
        if (goes_along(*loop)) {
            Expr *first = b_.var(block_.first), *end = b_.var(block_.end);
            using enum PieceLoop::Part;
            parts = {{loop, copy(loop->begin), less(copy(loop->end), copy(first)), kOutside},
                     {loop, greater(copy(loop->begin), copy(first)),
                      less(copy(loop->end), copy(end)), kInside},
                     {loop, greater(copy(loop->begin), copy(end)), copy(loop->end), kOutside}};
            std::erase_if(parts,
                          [&](const PieceLoop& part) { return at_least(*part.begin, *part.end); });
            if (joined_ && parts.size() == 3) {
                parts.pop_back();
                parts.front() = {loop, copy(loop->begin), copy(loop->end), kOutside, first, end};
            }
        } else {
            parts = {{loop, copy(loop->begin), copy(loop->end)}};
        }
        if (parts.size() > 1) {
            result_.cut = true;
            cut_loops_.push_back(loop);
        }
        for (const PieceLoop& part : parts) {
            const std::size_t known = facts_.size();
            const Linear var = of(loop->var);
            facts_.push_back(var - linear(*part.begin));
            facts_.push_back(minus_one(linear(*part.end) - var));
            piece.loops.push_back(part);
            if (part.skipped != nullptr) outside_.insert(loop->var);
            cut(leaf, piece);
            outside_.erase(loop->var);
            piece.loops.pop_back();
            facts_.resize(known);
        }
    }

    void find_mixed() {
        const auto is_cut = [&](const For* loop) {
            return std::ranges::find(cut_loops_, loop) != cut_loops_.end();
        };
        for (const Leaf& leaf : leaves_) {
            for (std::size_t i = 0; i < leaf.loops.size(); ++i) {
                For* loop = leaf.loops[i];
                const auto leaves = std::ranges::count_if(leaves_, [&](const Leaf& other) {
                    return std::ranges::find(other.loops, loop) != other.loops.end();
                });
                const auto inside = leaf.loops.begin() + static_cast<std::ptrdiff_t>(i) + 1;
                const bool mixes = leaves > 1 || std::any_of(inside, leaf.loops.end(), is_cut);
                const bool known = std::ranges::find(result_.mixed, loop) != result_.mixed.end();
                if (mixes && !known) result_.mixed.push_back(loop);
            }
        }
    }

    Builder b_;
    IndexMath math_;
    const For& loop_;
    const StepBlock block_;
    const bool joined_;
    const Expr* first_ = nullptr;
    const Expr* end_ = nullptr;
    std::map<std::pair<const Var*, std::size_t>, VarSet> along_;
    std::vector<Leaf> leaves_;
    std::vector<Linear> facts_;  // none of them is negative
    Loops cut_loops_;
    VarSet outside_;  // variables of the loops around that are outside of the block
    StepPieces result_;
};

}  // namespace

std::optional<StepPieces> pieces_of(Module& module, const For& loop, const StepBlock& block,
                                    bool joined) {
    return Cutter(module, loop, block, joined).run();
}

}  // namespace parpy
