// See updates.h.
//
// A reduction may reorder and regroup the operands. For min and max this means: a NaN among the
// elements is skipped, as `m = min(m, e)` and `if e < m: m = e` skip it in sequence; updates with
// other spellings (Update::forgets_nan) are treated like these where the user allows it.
#include "analysis/updates.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

std::optional<Op> reduction_of(Op update, const Type& type) {
    if (picks_one(update)) return update;
    switch (update) {
        case Op::kAdd:
        case Op::kSub:
            return type.is(Scalar::kBool) ? std::nullopt : std::optional(Op::kAdd);
        case Op::kMul:
            return type.is(Scalar::kBool) ? std::nullopt : std::optional(Op::kMul);
        case Op::kFma:
            return Op::kAdd;
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

namespace {

class Matcher {
public:
    static std::optional<Update> match(Stmt& stmt) {
        if (auto* branch = stmt.as<If>()) return match_if(*branch);
        Update c;
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
        if (!reduction_of(c.update, value->type)) return std::nullopt;
        c.forgets_nan = c.forgets_nan && value->type.is_scalar() && is_float(value->type.scalar);
        return c;
    }

    static std::optional<Update> match_chain(Stmt& stmt) {
        Update c;
        Expr* value = nullptr;
        std::optional<Op> update;
        if (!target(stmt, c, value, update) || update) return std::nullopt;
        c.update = Op::kFma;
        c.reads = 1;
        bool fused = false;
        std::vector<Expr*> operands;
        while (!is_target(*value, c)) {
            const auto& parts = value->operands;
            std::size_t next = 0;  // the operand that continues the chain
            if (value->op == Op::kFma) {
                fused = true;
                next = 2;
            } else if (value->op == Op::kAdd) {
                next = is_target(*parts[1], c) ? 1 : 0;
            } else if (value->op != Op::kSub) {
                return std::nullopt;
            }
            for (std::size_t i = 0; i < parts.size(); ++i) {
                if (i != next) operands.push_back(parts[i]);
            }
            value = parts[next];
        }
        if (!fused) return std::nullopt;
        c.value = operands.front();
        for (auto it = operands.begin() + 1; it != operands.end(); ++it)
            c.more.push_back({Op::kFma, *it});
        return c;
    }

private:
    // target = T(W(target) op e), computed in a wider type W of the same kind. Sums, products and
    // bit operations of integers wrap, so T may be used throughout; floats are rounded in any order
    // anyway.
    static bool match_converted(Expr& value, Update& c) {
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
        c.forgets_nan = picks_first(wide.op) && c.value == first;
        c.reads = 1;
        return true;
    }

    // Whether the operator is Python's min or max, which give the first operand if one is NaN.
    static bool picks_first(Op op) { return op == Op::kMin || op == Op::kMax; }

    static bool target(Stmt& stmt, Update& c, Expr*& value, std::optional<Op>& update) {
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

    static bool is_target(const Expr& e, const Update& c) {
        if (c.indices == nullptr) return e.op == Op::kVar && e.var == c.var;
        return e.op == Op::kLoad && e.var == c.var && same(e.operands, *c.indices);
    }

    // target = target op e, e op target, or a comparison that picks one of the two.
    static bool match_value(Expr& value, Update& c) {
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
            c.forgets_nan = true;  // no comparison with it holds
            return is_target(*value.operands[1], c);
        }
        if (value.operands.size() != 2 || !reduction_of(value.op, value.type)) return false;
        if (match_chain(value, c)) return true;
        c.update = value.op;
        if (is_target(*value.operands[0], c)) {
            c.value = value.operands[1];
            return true;
        }
        c.value = value.operands[0];
        c.forgets_nan = picks_first(value.op);
        return value.op != Op::kSub && is_target(*value.operands[1], c);
    }

    // target = target op e op …, for operators that may be regrouped whatever the values are.
    static bool match_chain(Expr& value, Update& c) {
        const auto family = [](Op op) { return op == Op::kSub ? Op::kAdd : op; };
        const Op op = family(value.op);
        if (op != Op::kAdd && op != Op::kMul && op != Op::kBitAnd && op != Op::kBitOr &&
            op != Op::kBitXor) {
            return false;
        }
        std::vector<Update::Term> terms;  // the last one first
        Expr* at = &value;
        while (at->operands.size() == 2 && family(at->op) == op && at->type == value.type) {
            Expr* const left = at->operands[0];
            Expr* const right = at->operands[1];
            const bool reversed = at->op != Op::kSub && is_target(*right, c);
            terms.push_back({at->op, reversed ? left : right});
            if (reversed || is_target(*left, c)) {
                c.update = terms.back().op;
                c.value = terms.back().value;
                c.more.assign(terms.rbegin() + 1, terms.rend());
                return true;
            }
            at = left;
        }
        return false;
    }

    // if e > target: target = e
    static std::optional<Update> match_if(If& branch) {
        if (branch.then_body.size() != 1 || !branch.else_body.empty()) return std::nullopt;
        Update c;
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

    // The operator that equals `then if condition else otherwise`; the condition compares both.
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
};

// Whether constant subscripts show that two elements of one array differ.
bool distinct(const Var& array, const std::vector<Expr*>& a, const std::vector<Expr*>& b) {
    if (!is_injective(array)) return false;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const auto x = constant_integer(a[i]);
        const auto y = constant_integer(b[i]);
        if (x && y && *x != *y) return true;
    }
    return false;
}

class GroupFinder {
public:
    explicit GroupFinder(For& loop) : loop_(loop), uses_(uses_of(loop.body)) {
        uses_.written.insert(loop.var);
    }

    // `by_text`: the groups whose targets, as the text shows, the loop does not use otherwise; else
    // the remaining groups.
    std::vector<UpdateGroup> run(bool by_text) {
        const std::vector<Update> updates = find_updates(loop_.body);
        std::vector<bool> taken(updates.size());
        std::vector<UpdateGroup> groups;
        for (std::size_t i = 0; i < updates.size(); ++i) {
            if (taken[i] || !may_accumulate(updates[i])) continue;
            if (!by_text && updates[i].indices == nullptr) continue;
            UpdateGroup group{*operation(updates[i]), {}};
            std::vector<std::size_t> members;
            int reads = 0;
            for (std::size_t j = 0; j < updates.size(); ++j) {
                const Update& other = updates[j];
                if (!same_target(updates[i], other) || operation(other) != group.op) continue;
                group.updates.push_back(other);
                members.push_back(j);
                reads += other.reads;
            }
            if (only_uses(updates[i], reads, static_cast<int>(members.size())) != by_text) continue;
            group.by_analysis = !by_text;
            for (const std::size_t member : members)
                taken[member] = true;
            groups.push_back(std::move(group));
        }
        return groups;
    }

private:
    static std::optional<Op> operation(const Update& u) {
        return reduction_of(u.update, u.value->type);
    }

    static bool same_target(const Update& a, const Update& b) {
        return a.var == b.var &&
               (a.indices == nullptr || b.indices == nullptr || same(*a.indices, *b.indices));
    }

    bool may_accumulate(const Update& u) const {
        // A scalar that each iteration assigns first, and that is not live later, is private to it.
        if (u.indices == nullptr) return exposed_reads(loop_.body).contains(u.var);
        return std::ranges::all_of(*u.indices, [&](const Expr* e) { return invariant(*e, uses_); });
    }

    bool only_uses(const Update& u, int reads, int writes) const {
        return u.indices == nullptr ? only_uses(*u.var, reads, writes)
                                    : only_uses(*u.var, *u.indices, reads, writes);
    }

    bool only_uses(const Var& scalar, int reads, int writes) const {
        for_each_expr(loop_.body, [&](const Expr& e) {
            if (e.op == Op::kVar && e.var == &scalar) --reads;
        });
        for_each_stmt(loop_.body, [&](Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) writes -= assign->var == &scalar;
            if (const auto* loop = stmt.as<For>()) writes -= 2 * (loop->var == &scalar);
        });
        return reads == 0 && writes == 0;
    }

    // The same for an element, in memory that has no other name in the loop.
    bool only_uses(const Var& array, const std::vector<Expr*>& indices, int reads,
                   int writes) const {
        const auto shares = [&](const Var* other) {
            return other != &array && may_share(array, *other);
        };
        if (std::ranges::any_of(uses_.loaded, shares) || std::ranges::any_of(uses_.stored, shares))
            return false;
        for_each_expr(loop_.body, [&](const Expr& e) {
            if (e.var != &array || e.op == Op::kExtent) return;
            if (e.op == Op::kLoad && distinct(array, e.operands, indices)) return;
            reads -= e.op == Op::kLoad && same(e.operands, indices) ? 1 : 1 << 20;
        });
        for_each_stmt(loop_.body, [&](Stmt& stmt) {
            const auto* store = stmt.as<Store>();
            if (store == nullptr || store->array != &array) return;
            if (distinct(array, store->indices, indices)) return;
            writes -= same(store->indices, indices) ? 1 : 1 << 20;
        });
        return reads == 0 && writes == 0;
    }

    For& loop_;
    Uses uses_;
};

void find_updates(Body& body, std::vector<Update>& found) {
    for (Stmt*& slot : body) {
        if (std::optional<Update> update = match_update(*slot)) {
            update->slot = &slot;
            found.push_back(*update);
        } else {
            for_each_body(*slot, [&](Body& inner) { find_updates(inner, found); });
        }
    }
}

}  // namespace

std::optional<Update> match_update(Stmt& stmt) {
    return Matcher::match(stmt);
}

std::optional<Update> match_chain(Stmt& stmt) {
    return Matcher::match_chain(stmt);
}

bool is_ordered(const Update& update) {
    if (update.forgets_nan) return true;
    const Scalar scalar = update.var->type.scalar;
    return (is_float(scalar) || is_complex(scalar)) &&
           (update.update == Op::kAdd || update.update == Op::kSub || update.update == Op::kMul ||
            update.update == Op::kDiv || update.update == Op::kFma);
}

std::vector<Update> find_updates(Body& body) {
    std::vector<Update> found;
    find_updates(body, found);
    return found;
}

std::vector<Update> find_updates_in_calls(Body& body) {
    std::vector<Update> found = find_updates(body);
    std::vector<Body*> bodies = {&body};
    std::unordered_set<const Function*> seen;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for_each_expr(*bodies[i], [&](Expr& e) {
            if (e.op != Op::kCall || !seen.insert(e.callee).second) return;
            bodies.push_back(&e.callee->body);
            std::ranges::move(find_updates(e.callee->body), std::back_inserter(found));
        });
    }
    return found;
}

bool UpdateGroup::forgets_nan() const {
    return std::ranges::any_of(updates, &Update::forgets_nan);
}

bool UpdateGroup::is_ordered() const {
    return std::ranges::any_of(updates, parpy::is_ordered);
}

Stmt* spelled_as_update(Module& module, const Update& u) {
    Stmt* stmt = *u.slot;
    const auto* branch = stmt->as<If>();
    if (branch != nullptr) stmt = branch->then_body[0];
    auto* assign = stmt->as<Assign>();
    auto* store = stmt->as<Store>();
    if (store != nullptr && store->atomic) return stmt;
    (assign != nullptr ? assign->update : store->update) = u.update;
    Builder builder(module, u.value->span);
    Expr* value = u.value;
    for (const Update::Term& term : u.more) {
        const bool sums = term.op == Op::kAdd || term.op == Op::kSub;
        value = builder.binary(!sums                 ? term.op
                               : term.op == u.update ? Op::kAdd
                                                     : Op::kSub,
                               value, term.value);
    }
    // If it were rounded first, an operand beyond the range of the target's type would be infinite.
    const bool sums = u.update == Op::kAdd || u.update == Op::kSub || u.update == Op::kMul;
    const Scalar type = u.var->type.scalar;
    if (!sums || !is_wider(value->type.scalar, type)) value = builder.convert(value, type);
    (assign != nullptr ? assign->value : store->value) = value;
    if (branch != nullptr) stmt->labels = branch->labels;
    return stmt;
}

bool separates(const Expr& index, const For& loop, const Uses& uses) {
    const auto operand = [&](std::size_t i) -> const Expr& { return *index.operands[i]; };
    const auto moved = [&](std::size_t i) {
        return separates(operand(i), loop, uses) && invariant(operand(1 - i), uses);
    };
    const auto scaled = [&](std::size_t i) {
        return separates(operand(i), loop, uses) &&
               constant_integer(&operand(1 - i)).value_or(0) != 0;
    };
    switch (index.op) {
        case Op::kVar:
            return index.var == loop.var;
        case Op::kConvert:
            return keeps_apart(index) && separates(operand(0), loop, uses);
        case Op::kNeg:
            return separates(operand(0), loop, uses);
        case Op::kAdd:
        case Op::kSub:
            return moved(0) || moved(1);
        case Op::kMul:
            return scaled(0) || scaled(1);
        default:
            return false;
    }
}

std::vector<UpdateGroup> reductions_of(For& loop) {
    return GroupFinder(loop).run(true);
}

std::vector<UpdateGroup> possible_reductions_of(For& loop) {
    return GroupFinder(loop).run(false);
}

bool accumulates(For& loop) {
    Uses uses = uses_of(loop.body);
    uses.written.insert(loop.var);
    const bool scatters = std::ranges::any_of(find_updates(loop.body), [&](const Update& update) {
        return update.indices != nullptr &&
               std::ranges::none_of(*update.indices, [&](const Expr* index) {
                   return separates(*index, loop, uses);
               });
    });
    return scatters || !reductions_of(loop).empty();
}

}  // namespace parpy
