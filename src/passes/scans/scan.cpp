// See scan.h.
#include "passes/scans/scan.h"

#include <algorithm>

#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/mapped/partial_values.h"
#include "passes/scans/same_bits.h"

namespace parpy {

using namespace ir;

namespace {

// The operand of conversions and of subscripts that count from the end.
const Expr& bare(const Expr& index) {
    const Expr* e = &index;
    while (e->op == Op::kIndex || (e->op == Op::kConvert && keeps_apart(*e)))
        e = e->operands[0];
    return *e;
}

bool counts_from_end(const Expr& index) {
    return any_expr(index, [](const Expr& e) { return e.op == Op::kIndex; });
}

class Matcher {
public:
    Matcher(Module& module, For& loop, const Body& before, bool exactly)
        : module_(module),
          loop_(loop),
          before_(before),
          exactly_(exactly),
          uses_(uses_of(loop.body)) {}

    std::optional<Scan> match() {
        if (has_pragma(loop_) || constant_integer(loop_.step) != 1 || uses_.calls ||
            !invariant(*loop_.end, uses_) || !only_computes(loop_.body) || ends_early() ||
            !finds_carried()) {
            return std::nullopt;
        }
        Scan scan;
        scan.loop = &loop_;
        scan.carried = carried_;
        if (!keeps_updates(scan)) return std::nullopt;
        for (Var* array : uses_.stored) {
            if (is_filled_in_order(*array)) scan.disjoint.push_back(array);
        }
        return scan;
    }

private:
    bool ends_early() const {
        bool found = false;
        for_each_stmt(loop_.body, [&](const Stmt& stmt) {
            found = found || stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kContinue ||
                    stmt.kind == StmtKind::kWhile;
        });
        return found;
    }

    // ------------------------------------------------------------ the scalars

    // Whether all scalars that one iteration passes on to the next are results of updates.
    bool finds_carried() {
        updates_ = find_updates(loop_.body);
        const std::vector<UpdateGroup> reductions = reductions_of(loop_);
        for (Var* var : exposed_reads(loop_.body)) {
            if (!uses_.written.contains(var) || var == loop_.var) continue;
            const bool reduced = std::ranges::any_of(reductions, [&](const UpdateGroup& group) {
                return group.updates.front().var == var;
            });
            if (reduced) continue;
            const auto op = operator_of(*var);
            if (!op) return false;
            carried_.push_back({var, *op});
        }
        return !carried_.empty();
    }

    bool is_update_of(const Update& update, const Var& var) const {
        return update.var == &var && update.indices == nullptr;
    }

    // The operator that combines partial results of the scalar, if updates by it alone assign it.
    std::optional<Op> operator_of(const Var& var) const {
        std::optional<Op> op;
        std::size_t updates = 0, assignments = 0;
        for (const Update& update : updates_) {
            if (!is_update_of(update, var)) continue;
            const auto own = reduction_of(update.update, var.type);
            if (!own || update.forgets_nan || (exactly_ && is_ordered(update)) ||
                update.value->type != var.type || !update.more.empty() ||
                (op && *op != combining(*own))) {
                return std::nullopt;
            }
            op = combining(*own);
            ++updates;
        }
        for_each_stmt(loop_.body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            assignments += assign != nullptr && assign->var == &var ? 1 : 0;
        });
        return updates == assignments ? op : std::nullopt;
    }

    bool is_carried(const Var* var) const {
        return std::ranges::any_of(carried_, [&](const Carried& c) { return c.var == var; });
    }

    // ------------------------------------------------------------ the updates alone

    // Whether nothing that decides about the updates depends on results of earlier ones.
    bool keeps_updates(Scan& scan) {
        std::size_t known = 0;
        do {
            known = needed_.size() + exact_.size();
            scan.updates = kept(loop_.body);
        } while (needed_.size() + exact_.size() != known);
        const Uses uses = uses_of(scan.updates);
        return same_bits_ &&
               std::ranges::none_of(needed_, [&](const Var* v) { return is_carried(v); }) &&
               std::ranges::none_of(uses.loaded,
                                    [&](const Var* array) { return uses_.may_store(*array); });
    }

    // Copies of the statements that update carried scalars or compute needed ones.
    Body kept(const Body& body) {
        Body result;
        for (const Stmt* stmt : body) {
            if (Stmt* own = kept(*stmt)) result.push_back(own);
        }
        return result;
    }

    Stmt* kept(const Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) return kept(*assign);
        if (const auto* test = stmt.as<If>()) {
            Body then_body = kept(test->then_body), else_body = kept(test->else_body);
            if (then_body.empty() && else_body.empty()) return nullptr;
            need(*test->condition, true);
            return Builder(module_, stmt.span)
                .if_(clone(module_, test->condition), std::move(then_body), std::move(else_body));
        }
        if (const auto* inner = stmt.as<For>()) {
            Body body = kept(inner->body);
            if (body.empty()) return nullptr;
            for (const Expr* bound : {inner->begin, inner->end, inner->step})
                need(*bound, true);
            auto* copy = module_.copy(*inner);
            copy->begin = clone(module_, inner->begin);
            copy->end = clone(module_, inner->end);
            copy->step = clone(module_, inner->step);
            copy->body = std::move(body);
            return copy;
        }
        return nullptr;
    }

    Stmt* kept(const Assign& assign) {
        if (is_carried(assign.var)) {
            for (const Update& update : updates_) {
                if (*update.slot == &assign) need(*update.value, is_whole(assign.var->type.scalar));
            }
        } else if (needed_.contains(assign.var)) {
            need(*assign.value, exact_.contains(assign.var));
        } else {
            return nullptr;
        }
        return clone(module_, static_cast<const Stmt*>(&assign));
    }

    // `exact`: other bits in a second evaluation would change more than the last bits of a sum.
    void need(const Expr& expr, bool exact) {
        same_bits_ = same_bits_ && (!exact || is_exact(expr));
        for (Var* var : uses_of(expr).read) {
            needed_.insert(var);
            if (exact) exact_.insert(var);
        }
    }

    static bool is_whole(Scalar type) { return !is_float(type) && !is_complex(type); }

    // ------------------------------------------------------------ stores at counts

    // Whether all accesses to the array are stores at a count: each run of the body that contains
    // them advances it beyond all of them.
    bool is_filled_in_order(const Var& array) {
        return !uses_.loaded.contains(&array) &&
               std::ranges::any_of(carried_, [&](const Carried& c) {
                   // Narrower counts may wrap around.
                   return c.op == Op::kAdd && c.var->type.scalar == Scalar::kI64 &&
                          is_filled_at(array, *c.var, loop_.body);
               });
    }

    bool is_filled_at(const Var& array, const Var& count, const Body& body) const {
        if (const auto step = step_of(count, body)) return fits(array, count, *step, body);
        // The only place with stores may be deeper inside.
        const Body* inner = nullptr;
        for (const Stmt* stmt : body) {
            if (!uses_of(*stmt).stored.contains(&array)) continue;
            if (inner != nullptr || stmt->kind == StmtKind::kStore) return false;
            bool several = false;
            for_each_body(*stmt, [&](const Body& part) {
                if (!uses_of(part).stored.contains(&array)) return;
                several = inner != nullptr;
                inner = &part;
            });
            if (several) return false;
        }
        return inner != nullptr && is_filled_at(array, count, *inner);
    }

    // The constant that `body` adds to the count in one statement of its own, if all updates of the
    // count have its sign.
    std::optional<std::int64_t> step_of(const Var& count, const Body& body) const {
        std::optional<std::int64_t> own;
        for (const Update& update : updates_) {
            if (!is_update_of(update, count)) continue;
            auto value = constant_integer(update.value);
            if (!value || *value == 0) return std::nullopt;
            if (update.update == Op::kSub) value = -*value;
            const bool here = std::ranges::find(body, *update.slot) != body.end();
            if (here && own) return std::nullopt;
            if (here) own = value;
        }
        const bool same_sign = std::ranges::all_of(updates_, [&](const Update& update) {
            if (!own || !is_update_of(update, count)) return true;
            const auto value = constant_integer(update.value);
            return (*value > 0) == ((*own > 0) == (update.update != Op::kSub));
        });
        return same_sign ? own : std::nullopt;
    }

    // Whether the subscripts along one axis lie within `step` of the count at the start of `body`.
    bool fits(const Var& array, const Var& count, std::int64_t step, const Body& body) const {
        for (std::size_t axis = 0; axis < array.dims.size(); ++axis) {
            std::optional<std::int64_t> least, greatest;
            bool wraps = false;
            std::int64_t passed = 0;
            const bool all = std::ranges::all_of(body, [&](Stmt* stmt) {
                const auto* assign = stmt->as<Assign>();
                if (assign != nullptr && assign->var == &count) passed = step;
                bool fitting = true;
                for_each_stmt(*stmt, [&](const Stmt& inner) {
                    const auto* store = inner.as<Store>();
                    if (store == nullptr || store->array != &array) return;
                    const auto offset = offset_of(*store, axis, count);
                    fitting = fitting && offset.has_value();
                    if (!offset) return;
                    wraps = wraps || counts_from_end(*store->indices[axis]);
                    const std::int64_t at = *offset + passed;
                    least = least ? std::min(*least, at) : at;
                    greatest = greatest ? std::max(*greatest, at) : at;
                });
                const bool updates_inside =
                    assign == nullptr && uses_of(*stmt).written.contains(&count);
                return fitting && !updates_inside;
            });
            if (!all || !least || *greatest - *least >= std::abs(step)) continue;
            if (wraps && !(step > 0 && *least >= 0 && starts_at_zero_or_more(count))) continue;
            return true;
        }
        return false;
    }

    static std::optional<std::int64_t> offset_of(const Store& store, std::size_t axis,
                                                 const Var& count) {
        if (store.update || store.atomic) return std::nullopt;
        return constant_offset(bare(*store.indices[axis]), count);
    }

    bool starts_at_zero_or_more(const Var& count) const {
        for (auto stmt = before_.rbegin(); stmt != before_.rend(); ++stmt) {
            if (!uses_of(**stmt).written.contains(&count)) continue;
            const auto* assign = (*stmt)->as<Assign>();
            const auto value = assign != nullptr && !assign->update
                                   ? constant_integer(assign->value)
                                   : std::nullopt;
            return value && *value >= 0;
        }
        return false;
    }

    Module& module_;
    For& loop_;
    const Body& before_;
    const bool exactly_;
    const Uses uses_;
    std::vector<Update> updates_;
    std::vector<Carried> carried_;
    VarSet needed_, exact_;  // scalars that decide about the updates; those that need the same bits
    bool same_bits_ = true;
};

}  // namespace

std::optional<Scan> scan_of(Module& module, For& loop, const Body& before, bool exactly) {
    return Matcher(module, loop, before, exactly).match();
}

}  // namespace parpy
