// See uses.h. One walk collects uses; a backward walk over the structured control flow computes
// liveness, of which the exposed reads are the special case that nothing is live at the end.
#include "analysis/uses.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tile.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool VarSet::insert(Var* var) {
    if (!members_.insert(var).second) return false;
    order_.push_back(var);
    return true;
}

void VarSet::insert(const VarSet& other) {
    for (Var* var : other)
        insert(var);
}

bool VarSet::erase(const Var* var) {
    if (members_.erase(var) == 0) return false;
    order_.erase(std::find(order_.begin(), order_.end(), var));
    return true;
}

namespace {

class UsesWalk {
public:
    explicit UsesWalk(Uses& uses) : uses_(uses) {}

    void expr(const Expr* e) {
        if (e == nullptr) return;
        switch (e->op) {
            case Op::kVar:
                uses_.read.insert(e->var);
                break;
            case Op::kLoad:
                uses_.loaded.insert(e->var);
                layout(*e->var, false);
                break;
            case Op::kAtomic:
                uses_.loaded.insert(e->var);
                uses_.stored.insert(e->var);
                layout(*e->var, false);
                break;
            case Op::kExtent:
                extent(*e);
                break;
            case Op::kTile:
                uses_.stored.insert(e->operands[kTileSums]->var);
                break;
            case Op::kMma:
                uses_.stored.insert(e->operands.front()->var);
                break;
            case Op::kArray:  // outside an argument list: assume the worst
                uses_.loaded.insert(e->var);
                uses_.stored.insert(e->var);
                layout(*e->var, true);
                break;
            case Op::kCall:
                uses_.calls = true;
                arguments(*e->callee, e->operands);
                return;
            default:
                break;
        }
        for (const Expr* operand : e->operands)
            expr(operand);
    }

    void stmt(const Stmt* s) {
        if (const auto* assign = s->as<Assign>()) {
            expr(assign->value);
            if (assign->update) uses_.read.insert(assign->var);
            uses_.written.insert(assign->var);
        } else if (const auto* bind = s->as<Bind>()) {
            expr(bind->value);
        } else if (const auto* store = s->as<Store>()) {
            for (const Expr* index : store->indices)
                expr(index);
            expr(store->value);
            if (store->update) uses_.loaded.insert(store->array);
            uses_.stored.insert(store->array);
            layout(*store->array, false);
        } else if (const auto* loop = s->as<For>()) {
            expr(loop->begin);
            expr(loop->end);
            expr(loop->step);
            uses_.written.insert(loop->var);
            body(loop->body);
        } else if (const auto* spin = s->as<While>()) {
            expr(spin->condition);
            body(spin->body);
        } else if (const auto* branch = s->as<If>()) {
            expr(branch->condition);
            body(branch->then_body);
            body(branch->else_body);
        } else if (const auto* ret = s->as<Return>()) {
            expr(ret->value);
        } else if (const auto* evaluate = s->as<Evaluate>()) {
            expr(evaluate->value);
        } else if (const auto* check = s->as<Assert>()) {
            expr(check->condition);
        } else if (const auto* failure = s->as<Fail>()) {
            for (const Expr* value : failure->values)
                expr(value);
        } else if (const auto* print = s->as<Print>()) {
            for (const Expr* value : print->values)
                expr(value);
        } else if (const auto* gpu = s->as<Gpu>()) {
            for (const auto& sizes : {gpu->grid, gpu->block})
                for (int i = 0; i < 3; ++i)
                    expr(sizes[i]);
            expr(gpu->shared_bytes);
            body(gpu->body);
        } else if (const auto* alloc = s->as<Alloc>()) {
            uses_.allocated.insert(alloc->array);
            layout(*alloc->array, true);
        } else if (const auto* launch = s->as<Launch>()) {
            expr(launch->iterations);
            expr(launch->cost);
            for (const auto& sizes : {launch->grid, launch->block})
                for (int i = 0; i < 3; ++i)
                    expr(sizes[i]);
            expr(launch->shared_bytes);
            if (launch->chunks != nullptr) uses_.read.insert(launch->chunks);
            arguments(*launch->kernel, launch->arguments);
        } else if (const auto* fetch = s->as<Fetch>()) {
            uses_.written.insert(fetch->var);
            uses_.loaded.insert(fetch->array);
        }
    }

    void body(const Body& stmts) {
        for (const Stmt* s : stmts)
            stmt(s);
    }

private:
    // Adds the scalars that addressing the array reads; `with_extents`: its shape as well.
    void layout(const Var& array, bool with_extents) {
        for (const Dim& dim : array.dims) {
            if (!dim.stride && dim.stride_var != nullptr) uses_.read.insert(dim.stride_var);
            if (with_extents && !dim.extent && dim.extent_var != nullptr) {
                uses_.read.insert(dim.extent_var);
            }
        }
    }

    void extent(const Expr& e) {
        const auto rank = static_cast<int>(e.var->dims.size());
        const int dimension = e.index < 0 ? e.index + rank : e.index;
        if (dimension < 0 || dimension >= rank) return;
        const Dim& dim = e.var->dims[static_cast<std::size_t>(dimension)];
        if (!dim.extent && dim.extent_var != nullptr) uses_.read.insert(dim.extent_var);
    }

    void arguments(const Function& callee, const std::vector<Expr*>& operands) {
        const bool recursive =
            std::find(calling_.begin(), calling_.end(), &callee) != calling_.end();
        const bool has_arrays = std::any_of(operands.begin(), operands.end(), [](const Expr* e) {
            return array_passed(*e) != nullptr;
        });
        Uses inside;
        if (has_arrays && !recursive) {
            UsesWalk walk(inside);
            walk.calling_ = calling_;
            walk.calling_.push_back(&callee);
            walk.body(callee.body);
        }
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const Expr* operand = operands[i];
            if (operand->op != Op::kArray) expr(operand);
            Var* array = array_passed(*operand);
            if (array == nullptr) continue;
            const Var* param = i < callee.params.size() ? callee.params[i] : nullptr;
            const bool unsure =
                recursive || param == nullptr || callee.kind == FunctionKind::kForeign;
            if (unsure || inside.loaded.contains(param)) uses_.loaded.insert(array);
            if (unsure || inside.stored.contains(param)) uses_.stored.insert(array);
            layout(*array, true);
        }
    }

    Uses& uses_;
    std::vector<const Function*> calling_;
};

}  // namespace

Uses uses_of(const Expr& expr) {
    Uses uses;
    UsesWalk(uses).expr(&expr);
    return uses;
}

Uses uses_of(const Stmt& stmt) {
    Uses uses;
    UsesWalk(uses).stmt(&stmt);
    return uses;
}

Uses uses_of(const Body& body) {
    Uses uses;
    UsesWalk(uses).body(body);
    return uses;
}

bool uses_arrays(const Stmt& stmt) {
    const Uses uses = uses_of(stmt);
    return !uses.loaded.empty() || !uses.stored.empty();
}

bool uses_arrays(const Expr& expr) {
    return !uses_of(expr).loaded.empty();
}

bool leaves_loop(const Stmt& stmt) {
    if (stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kContinue) return true;
    if (stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile) return false;
    bool found = false;
    for_each_body(stmt, [&](const Body& body) {
        for (const Stmt* inner : body)
            found = found || leaves_loop(*inner);
    });
    return found;
}

bool Uses::may_store(const Var& array) const {
    return may_share(stored, array);
}

bool Uses::may_touch(const Var& array) const {
    return may_share(loaded, array) || may_share(stored, array);
}

bool invariant(const Expr& expr, const Uses& uses) {
    const Uses own = uses_of(expr);
    if (own.calls) return false;
    return std::none_of(own.read.begin(), own.read.end(),
                        [&](const Var* v) { return uses.written.contains(v); }) &&
           std::none_of(own.loaded.begin(), own.loaded.end(),
                        [&](const Var* v) { return uses.may_store(*v); });
}

bool same(const Expr& a, const Expr& b) {
    return a.op == b.op && a.type == b.type && a.constant == b.constant && a.var == b.var &&
           a.index == b.index && a.reg == b.reg && a.callee == b.callee &&
           same(a.operands, b.operands);
}

bool same(const std::vector<Expr*>& a, const std::vector<Expr*>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expr* x, const Expr* y) { return same(*x, *y); });
}

bool keeps_apart(const Expr& convert) {
    const Type& to = convert.type;
    const Type& from = convert.operands[0]->type;
    if (!to.is_scalar() || !is_integer(to.scalar) || !from.is_scalar()) return false;
    return is_integer(from.scalar) && (size_in_bytes(to.scalar) >= 4 ||
                                       size_in_bytes(to.scalar) >= size_in_bytes(from.scalar));
}

std::optional<std::int64_t> constant_offset(const Expr& index, const Var& variable) {
    if (index.op == Op::kVar && index.var == &variable) return 0;
    if (index.op == Op::kConvert && keeps_apart(index)) {
        return constant_offset(*index.operands[0], variable);
    }
    if (index.op != Op::kAdd && index.op != Op::kSub) return std::nullopt;
    const Expr& a = *index.operands[0];
    const Expr& b = *index.operands[1];
    const auto left = constant_integer(&a);
    const auto right = constant_integer(&b);
    if (right) {
        const auto offset = constant_offset(a, variable);
        if (!offset) return std::nullopt;
        return index.op == Op::kAdd ? *offset + *right : *offset - *right;
    }
    if (left && index.op == Op::kAdd) {
        const auto offset = constant_offset(b, variable);
        return offset ? std::optional(*offset + *left) : std::nullopt;
    }
    return std::nullopt;
}

namespace {

// Without conversions to wider signed integers, which keep every value.
const Expr& without_widening(const Expr& e) {
    const Expr* inner = &e;
    while (inner->op == Op::kConvert && keeps_apart(*inner) &&
           is_signed_integer(inner->type.scalar) &&
           is_signed_integer(inner->operands[0]->type.scalar) &&
           size_in_bytes(inner->type.scalar) >= size_in_bytes(inner->operands[0]->type.scalar)) {
        inner = inner->operands[0];
    }
    return *inner;
}

// The value of a comparison of the loop's variable with its first value, or of constants, in the
// first iteration. `tells_first` has made sure that both keep their values in the body.
std::optional<bool> at_first(const Expr& condition, const For& loop) {
    if (condition.operands.size() != 2) return std::nullopt;
    const Expr& variable = without_widening(*condition.operands[0]);
    if (variable.op != Op::kVar || variable.var != loop.var) return std::nullopt;
    const Expr& other = without_widening(*condition.operands[1]);
    const Expr& begin = without_widening(*loop.begin);
    const auto first = constant_integer(&begin), limit = constant_integer(&other);
    if (!(first && limit) && !same(begin, other)) return std::nullopt;
    const auto order = first && limit ? *first <=> *limit : std::strong_ordering::equal;
    switch (condition.op) {
        case Op::kEq:
            return order == 0;
        case Op::kNe:
            return order != 0;
        case Op::kLt:
            return order < 0;
        case Op::kLe:
            return order <= 0;
        case Op::kGt:
            return order > 0;
        case Op::kGe:
            return order >= 0;
        default:
            return std::nullopt;
    }
}

// Whether a condition in the body is decided in the first iteration, throughout the body.
bool tells_first(const For& loop) {
    bool tells = false;
    for_each_stmt(loop.body, [&](const Stmt& stmt) {
        const auto* branch = stmt.as<If>();
        tells = tells || (branch != nullptr && at_first(*branch->condition, loop).has_value());
    });
    if (!tells) return false;
    const Uses uses = uses_of(loop.body);
    return !uses.written.contains(loop.var) && invariant(*loop.begin, uses);
}

}  // namespace

// Each function receives the scalars live after its piece and returns those live before it: the
// exposed reads of the piece, and those live after it that it does not assign. So a loop's fixpoint
// is reached in one visit of its body; the liveness inside is recorded in a second one.
class LivenessWalk {
public:
    enum class Of : std::uint8_t { kScalars, kNames };

    explicit LivenessWalk(Liveness* result, Of of = Of::kScalars) : result_(result), of_(of) {}

    VarSet body(const Body& stmts, VarSet live) {
        for (auto it = stmts.rbegin(); it != stmts.rend(); ++it)
            live = stmt(*it, std::move(live));
        return live;
    }

private:
    struct Targets {
        VarSet on_break, on_continue;
    };

    void read(VarSet& live, const Expr* e) const {
        if (e == nullptr) return;
        if (of_ == Of::kScalars) {
            live.insert(uses_of(*e).read);
            return;
        }
        for_each_expr(*e, [&](const Expr& part) {
            if (part.var != nullptr && part.var->type.is_array()) live.insert(part.var);
        });
    }

    void read(VarSet& live, const Stmt& s) const {
        if (of_ == Of::kScalars) {
            live.insert(uses_of(s).read);
            return;
        }
        for_each_slot(s, [&](const Expr* slot) { read(live, slot); });
        if (const auto* store = s.as<Store>()) live.insert(store->array);
    }

    VarSet stmt(const Stmt* s, VarSet live) {
        if (result_ != nullptr) result_->after_[s] = live;
        if (const auto* assign = s->as<Assign>()) {
            if (!assign->update) live.erase(assign->var);
            read(live, *s);
            return live;
        }
        if (const auto* bind = s->as<Bind>()) live.erase(bind->array);
        if (const auto* loop = s->as<For>()) {
            VarSet before = for_loop(*loop, std::move(live));
            read(before, loop->begin);
            read(before, loop->end);
            read(before, loop->step);
            return before;
        }
        if (const auto* spin = s->as<While>()) return while_loop(*spin, std::move(live));
        if (const auto* branch = s->as<If>()) {
            const std::optional<bool> decided = decided_at_first(*branch->condition);
            VarSet before;
            if (decided.value_or(true)) before.insert(body(branch->then_body, live));
            if (!decided.value_or(false)) before.insert(body(branch->else_body, std::move(live)));
            read(before, branch->condition);
            return before;
        }
        if (const auto* gpu = s->as<Gpu>()) return body(gpu->body, std::move(live));
        if (const auto* fetch = s->as<Fetch>()) live.erase(fetch->var);
        if (s->kind == StmtKind::kBreak) {
            return targets_.empty() ? VarSet{} : targets_.back().on_break;
        }
        if (s->kind == StmtKind::kContinue) {
            return targets_.empty() ? VarSet{} : targets_.back().on_continue;
        }
        if (s->kind == StmtKind::kReturn || s->kind == StmtKind::kFail) live = VarSet{};
        read(live, *s);
        return live;
    }

    // A loop without iterations does not change its variable, so the variable stays live before the
    // loop, unless an iteration certainly runs here and not on another thread. Conditions that tell
    // the first iteration from the others are decided in it: it may set what the others read.
    VarSet for_loop(const For& loop, VarSet after) {
        const bool runs = constant_trip_count(loop).value_or(0) > 0 && !loop.mapping.parallel();
        VarSet head = after;
        VarSet before = iterations(loop.body, after, head, loop.var);
        if (!loop.mapping.parallel() && tells_first(loop))
            before = first_iteration(loop, after, head);
        if (runs) return before;
        after.insert(before);
        return after;
    }

    VarSet first_iteration(const For& loop, const VarSet& after, const VarSet& head) {
        Liveness* const result = std::exchange(result_, nullptr);
        first_of_.push_back(&loop);
        targets_.push_back({after, head});
        VarSet before = body(loop.body, head);
        targets_.pop_back();
        first_of_.pop_back();
        result_ = result;
        before.erase(loop.var);
        return before;
    }

    // The value of a condition in the first iteration of the loops in `first_of_`.
    [[nodiscard]] std::optional<bool> decided_at_first(const Expr& condition) const {
        for (const For* loop : first_of_) {
            if (const auto decided = at_first(condition, *loop)) return decided;
        }
        return std::nullopt;
    }

    VarSet while_loop(const While& loop, VarSet after) {
        VarSet head = after;
        read(head, loop.condition);
        iterations(loop.body, after, head, nullptr);
        return head;
    }

    // Adds the exposed reads of iterations, which it returns, to `head`, the scalars live before an
    // iteration. Each iteration sets `counter`.
    VarSet iterations(const Body& stmts, const VarSet& after, VarSet& head, const Var* counter) {
        const auto visit = [&] {
            targets_.push_back({after, head});
            VarSet before = body(stmts, head);
            targets_.pop_back();
            before.erase(counter);
            return before;
        };
        Liveness* const result = std::exchange(result_, nullptr);
        VarSet before = visit();
        head.insert(before);
        result_ = result;
        return result_ != nullptr ? visit() : before;
    }

    Liveness* result_;
    Of of_;
    std::vector<Targets> targets_;
    std::vector<const For*> first_of_;  // loops in whose first iteration the walk is
};

VarSet exposed_reads(const Body& body, const VarSet& live_after) {
    return LivenessWalk(nullptr).body(body, live_after);
}

VarSet unbound_names(const Body& body) {
    VarSet bound;
    for_each_stmt(body, [&](const Stmt& s) {
        if (const auto* bind = s.as<Bind>()) bound.insert(bind->array);
    });
    VarSet result;
    if (bound.empty()) return result;
    for (Var* name : LivenessWalk(nullptr, LivenessWalk::Of::kNames).body(body, {})) {
        if (bound.contains(name)) result.insert(name);
    }
    return result;
}

VarSet free_variables(const Body& body) {
    const Uses uses = uses_of(body);
    const VarSet exposed = exposed_reads(body);
    VarSet result;
    for (Var* array : uses.loaded) {
        if (!uses.allocated.contains(array)) result.insert(array);
    }
    for (Var* array : uses.stored) {
        if (!uses.allocated.contains(array)) result.insert(array);
    }
    for_each_expr(body, [&](const Expr& e) {  // passed to a function that ignores it
        if (e.op == Op::kArray && !uses.allocated.contains(e.var)) result.insert(e.var);
    });
    for (Var* scalar : uses.read) {
        if (exposed.contains(scalar)) result.insert(scalar);
    }
    return result;
}

Liveness::Liveness(const Function& function) {
    LivenessWalk(this).body(function.body, {});
}

const VarSet& Liveness::after(const Stmt* stmt) const {
    static const VarSet kNone;
    const auto found = after_.find(stmt);
    return found == after_.end() ? kNone : found->second;
}

}  // namespace parpy
