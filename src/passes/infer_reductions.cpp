// See infer_reductions.h. For every loop in question: collect the statements that may be updates,
// group them by what they update, and accept a group if the loop touches its target nowhere else.
//
// A reduction may reorder and regroup the operands. For min and max with NaN that means: a NaN
// among the elements is skipped, as `m = min(m, e)` and `if e < m: m = e` skip it in sequence; of
// `m = min(e, m)`, whose value after a NaN depends on the order, that same reading is taken.
#include "passes/infer_reductions.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// The reduction that repeated `target <op>= value` is.
std::optional<Op> reduction_of(Op update, const Type& type) {
    switch (update) {
        case Op::kAdd:
        case Op::kSub:
            return type.is(Scalar::kBool) ? std::nullopt : std::optional(Op::kAdd);
        case Op::kMul:
            return type.is(Scalar::kBool) ? std::nullopt : std::optional(Op::kMul);
        case Op::kMin:
        case Op::kMax:
        case Op::kMinimum:
        case Op::kMaximum:
        case Op::kFmin:
        case Op::kFmax:
        case Op::kBitAnd:
        case Op::kBitOr:
        case Op::kBitXor:
            return update;
        case Op::kAnd:
        case Op::kOr:
            return type.is(Scalar::kBool) ? std::optional(update) : std::nullopt;
        default:
            return std::nullopt;
    }
}

// A statement that updates `var` (an element of it if it is an array): its place, and what it does.
struct Candidate {
    Stmt** slot = nullptr;
    Var* var = nullptr;
    const std::vector<Expr*>* indices = nullptr;
    Op update{};
    Expr* value = nullptr;
    int reads = 0;  // of the target, by the statement's own spelling
    bool accepted = false;
};

class CandidateFinder {
public:
    explicit CandidateFinder(std::vector<Candidate>& found) : found_(found) {}

    void body(Body& stmts) {
        for (Stmt*& slot : stmts) {
            if (std::optional<Candidate> candidate = match(*slot)) {
                candidate->slot = &slot;
                found_.push_back(*candidate);
            } else {
                for_each_body(*slot, [&](Body& inner) { body(inner); });
            }
        }
    }

private:
    static std::optional<Candidate> match(Stmt& stmt) {
        if (auto* branch = stmt.as<If>()) return match_if(*branch);
        Candidate c;
        Expr* value = nullptr;
        std::optional<Op> update;
        if (!target(stmt, c, value, update)) return std::nullopt;
        if (update) {
            c.update = *update;
            c.value = value;
        } else if (!(value->op == Op::kConvert ? match_converted(*value, c)
                                               : match_value(*value, c))) {
            return std::nullopt;
        }
        return reduction_of(c.update, value->type) ? std::optional(c) : std::nullopt;
    }

    // target = T(W(target) op e), computed in a wider type W of the same kind. Sums, products and
    // bit operations of integers wrap, so T may be used throughout; floats are rounded in any order
    // anyway.
    static bool match_converted(Expr& value, Candidate& c) {
        Expr& wide = *value.operands[0];
        const auto both = [&](auto&& kind) {
            return kind(value.type.scalar) && kind(wide.type.scalar);
        };
        if (wide.operands.size() != 2 || wide.op == Op::kSelect) return false;
        if (!both(is_float) && !both(is_complex) && !both(is_integer)) return false;
        Expr*& first = wide.operands[0];
        Expr*& second = wide.operands[1];
        const auto widened_target = [&](const Expr* e) {
            return e->op == Op::kConvert && is_target(*e->operands[0], c);
        };
        if (!widened_target(first) && (wide.op == Op::kSub || !widened_target(second)))
            return false;
        if (is_integer(wide.type.scalar) && wide.op != Op::kAdd && wide.op != Op::kSub &&
            wide.op != Op::kMul && wide.op != Op::kBitAnd && wide.op != Op::kBitOr &&
            wide.op != Op::kBitXor) {
            return false;
        }
        c.update = wide.op;
        c.value = widened_target(first) ? second : first;
        c.reads = 1;
        return true;
    }

    static bool target(Stmt& stmt, Candidate& c, Expr*& value, std::optional<Op>& update) {
        if (auto* assign = stmt.as<Assign>()) {
            c.var = assign->var;
            value = assign->value;
            update = assign->update;
            return !c.var->type.is_array();
        }
        if (auto* store = stmt.as<Store>()) {
            c.var = store->array;
            c.indices = &store->indices;
            value = store->value;
            update = store->update;
            return !store->atomic;
        }
        return false;
    }

    static bool is_target(const Expr& e, const Candidate& c) {
        if (c.indices == nullptr) return e.op == Op::kVar && e.var == c.var;
        return e.op == Op::kLoad && e.var == c.var && same(e.operands, *c.indices);
    }

    // target = target op e, e op target, or a comparison that picks one of the two.
    static bool match_value(Expr& value, Candidate& c) {
        c.reads = 1;
        if (value.op == Op::kSelect) {
            const std::optional<Op> op =
                picks(*value.operands[0], *value.operands[1], *value.operands[2]);
            if (!op) return false;
            c.update = *op;
            c.reads = 2;
            if (is_target(*value.operands[2], c)) {
                c.value = value.operands[1];
                return true;
            }
            c.value = value.operands[2];
            return is_target(*value.operands[1], c);
        }
        if (value.operands.size() != 2 || !reduction_of(value.op, value.type)) return false;
        c.update = value.op;
        if (is_target(*value.operands[0], c)) {
            c.value = value.operands[1];
            return true;
        }
        c.value = value.operands[0];
        return value.op != Op::kSub && is_target(*value.operands[1], c);
    }

    // if e > target: target = e
    static std::optional<Candidate> match_if(If& branch) {
        if (branch.then_body.size() != 1 || !branch.else_body.empty()) return std::nullopt;
        Candidate c;
        Expr* value = nullptr;
        std::optional<Op> update;
        if (!target(*branch.then_body[0], c, value, update) || update) return std::nullopt;
        if (branch.condition->operands.size() != 2) return std::nullopt;
        for (const Expr* side : branch.condition->operands) {
            if (!is_target(*side, c)) continue;
            const std::optional<Op> op = picks(*branch.condition, *value, *side);
            if (!op) return std::nullopt;
            c.update = *op;
            c.value = value;
            c.reads = 1;
            return c;
        }
        return std::nullopt;
    }

    // The operator that `then if condition else otherwise` is, condition comparing just these two.
    static std::optional<Op> picks(const Expr& condition, const Expr& then, const Expr& otherwise) {
        if (condition.operands.size() != 2) return std::nullopt;
        const Expr& a = *condition.operands[0];
        const Expr& b = *condition.operands[1];
        const bool straight = same(a, then) && same(b, otherwise);
        const bool crossed = same(a, otherwise) && same(b, then);
        if (straight == crossed) return std::nullopt;
        switch (condition.op) {
            case Op::kGt:
            case Op::kGe:
                return straight ? Op::kMax : Op::kMin;
            case Op::kLt:
            case Op::kLe:
                return straight ? Op::kMin : Op::kMax;
            default:
                return std::nullopt;
        }
    }

    std::vector<Candidate>& found_;
};

// Two elements of one array that no values of the variables make the same.
bool distinct(const std::vector<Expr*>& a, const std::vector<Expr*>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const auto x = constant_integer(a[i]);
        const auto y = constant_integer(b[i]);
        if (x && y && *x != *y) return true;
    }
    return false;
}

class LoopAnalysis {
public:
    LoopAnalysis(PassContext& context, const Liveness& liveness,
                 std::unordered_set<const Var*>& reported)
        : context_(context), liveness_(liveness), reported_(reported) {}

    void run(For& loop) {
        loop_ = &loop;
        uses_ = uses_of(loop.body);
        uses_.written.insert(loop.var);
        CandidateFinder(candidates_).body(loop.body);
        for (Candidate& candidate : candidates_) {
            if (!candidate.accepted) try_group(candidate);
        }
        if (loop.mapping.reduce && loop.mapping.reductions.empty()) report_no_reduction();
        if (loop.mapping.parallel()) {
            check_scalars();
            loop.mapping.reduce = !loop.mapping.reductions.empty();
            rewrite_accepted();
        } else {
            loop.mapping.reductions.clear();
            loop.mapping.reduce = false;
        }
    }

private:
    static bool same_target(const Candidate& a, const Candidate& b) {
        return a.var == b.var &&
               (a.indices == nullptr || b.indices == nullptr || same(*a.indices, *b.indices));
    }

    // Accepts all candidates with the target of `first`, if the loop has no other use for it.
    void try_group(Candidate& first) {
        const bool scalar = first.indices == nullptr;
        if (!scalar && !std::all_of(first.indices->begin(), first.indices->end(),
                                    [&](const Expr* e) { return invariant(*e, uses_); })) {
            return;
        }
        // A scalar that each iteration starts anew, and nobody wants later, is private to it.
        if (scalar && !exposed_reads(loop_->body).contains(first.var)) return;
        std::vector<Candidate*> group;
        int reads = 0;
        const auto op = reduction_of(first.update, first.value->type);
        for (Candidate& c : candidates_) {
            if (!same_target(first, c) || reduction_of(c.update, c.value->type) != op) continue;
            group.push_back(&c);
            reads += c.reads;
        }
        const int writes = static_cast<int>(group.size());
        if (scalar ? !only_uses(*first.var, reads, writes)
                   : !only_uses(*first.var, *first.indices, reads, writes)) {
            return;
        }
        Reduction reduction{*op, first.var, {}};
        if (!scalar) {
            for (const Expr* index : *first.indices) {
                reduction.indices.push_back(clone(context_.module, index));
            }
        }
        loop_->mapping.reductions.push_back(std::move(reduction));
        for (Candidate* c : group)
            c->accepted = true;
    }

    bool only_uses(const Var& scalar, int reads, int writes) const {
        for_each_expr(loop_->body, [&](const Expr& e) {
            if (e.op == Op::kVar && e.var == &scalar) --reads;
        });
        for_each_stmt(loop_->body, [&](Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) writes -= assign->var == &scalar;
            if (const auto* loop = stmt.as<For>()) writes -= 2 * (loop->var == &scalar);
        });
        return reads == 0 && writes == 0;
    }

    bool only_uses(const Var& array, const std::vector<Expr*>& indices, int reads,
                   int writes) const {
        for_each_expr(loop_->body, [&](const Expr& e) {
            if (e.var != &array || e.op == Op::kExtent) return;
            if (e.op == Op::kLoad && distinct(e.operands, indices)) return;
            reads -= e.op == Op::kLoad && same(e.operands, indices) ? 1 : 1 << 20;
        });
        for_each_stmt(loop_->body, [&](Stmt& stmt) {
            const auto* store = stmt.as<Store>();
            if (store == nullptr || store->array != &array) return;
            if (distinct(store->indices, indices)) return;
            writes -= same(store->indices, indices) ? 1 : 1 << 20;
        });
        return reads == 0 && writes == 0;
    }

    bool is_reduced(const Var* var) const {
        const auto& list = loop_->mapping.reductions;
        return std::any_of(list.begin(), list.end(),
                           [&](const Reduction& r) { return r.var == var; });
    }

    void check_scalars() {
        // A value that is carried on some path need not be on those that are taken.
        const bool trusted = context_.options.legality == Legality::kTrust;
        const VarSet exposed = exposed_reads(loop_->body);
        const VarSet& live = liveness_.after(loop_);
        for (const Var* scalar : uses_.written) {
            if (scalar == loop_->var || is_reduced(scalar)) continue;
            const bool wanted = live.contains(scalar);
            const bool carried = exposed.contains(scalar) && !trusted;
            if ((!wanted && !carried) || !reported_.insert(scalar).second) continue;
            const Span at = place_of_write(*scalar);
            const std::string loop = "the parallel loop '" + loop_->var->name + "'";
            if (carried) {
                auto& error = context_.diagnostics.error(
                    Code::kP311, at,
                    "'" + scalar->name + "' carries a value from one iteration of " + loop +
                        " to the next");
                error.notes.push_back({loop_->span, "the loop"});
                error.help = "assign '" + scalar->name +
                             "' before it is read in each iteration, update it in one way only "
                             "(`+=`, `max`, …) and read it after the loop, or run the loop "
                             "sequentially";
            } else {
                auto& error = context_.diagnostics.error(
                    Code::kP310, at,
                    "'" + scalar->name + "' is assigned by every iteration of " + loop +
                        " and read after it");
                error.notes.push_back({loop_->span, "the loop"});
                error.help = "store what is needed later to an array, or run the loop sequentially";
            }
        }
    }

    Span place_of_write(const Var& scalar) const {
        Span at = loop_->span;
        bool found = false;
        for_each_stmt(loop_->body, [&](Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            if (found || assign == nullptr || assign->var != &scalar) return;
            found = true;
            at = stmt.span;
        });
        return at;
    }

    void report_no_reduction() {
        context_.diagnostics
            .error(Code::kP309, loop_->span,
                   "loop '" + loop_->var->name + "' is mapped with reduce() but reduces nothing")
            .help =
            "a reduction updates one scalar or element in every iteration, as `s += x[i]` "
            "or `m = max(m, x[i])` do, and uses it for nothing else; leave out reduce()";
    }

    // Accepted plain spellings become updates: the form that later passes look for.
    void rewrite_accepted() {
        for (const Candidate& c : candidates_) {
            if (!c.accepted) continue;
            Stmt* stmt = *c.slot;
            const auto* branch = stmt->as<If>();
            if (branch != nullptr) stmt = branch->then_body[0];
            auto* assign = stmt->as<Assign>();
            auto* store = stmt->as<Store>();
            (assign != nullptr ? assign->update : store->update) = c.update;
            Builder builder(context_.module, c.value->span);
            (assign != nullptr ? assign->value : store->value) =
                builder.convert(c.value, c.var->type.scalar);
            if (branch != nullptr) stmt->labels = branch->labels;
            *c.slot = stmt;
        }
    }

    PassContext& context_;
    const Liveness& liveness_;
    std::unordered_set<const Var*>& reported_;
    For* loop_ = nullptr;
    Uses uses_;
    std::vector<Candidate> candidates_;
};

}  // namespace

void infer_reductions(PassContext& context) {
    Function& entry = *context.module.entry_function();
    const Liveness liveness(entry);
    std::unordered_set<const Var*> reported;
    for_each_stmt(entry.body, [&](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop == nullptr || !(loop->mapping.parallel() || loop->mapping.reduce)) return;
        LoopAnalysis(context, liveness, reported).run(*loop);
    });
}

}  // namespace parpy
