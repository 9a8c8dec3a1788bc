// See normalize_reductions.h.
#include "passes/mapped/normalize_reductions.h"

#include <algorithm>
#include <optional>

#include "analysis/geometry.h"
#include "analysis/integers/intervals.h"
#include "analysis/memory/sharing.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/mapped/partial_values.h"

namespace parpy {

using namespace ir;

namespace {

bool same_target(const Reduction& a, const Reduction& b) {
    return a.var == b.var && same(a.indices, b.indices);
}

// Whether every iteration that runs `body` updates the target.
bool always_updates(const Body& body, const Reduction& target) {
    for (const Stmt* stmt : body) {
        if (updates(*stmt, target)) return true;
        if (leaves_loop(*stmt)) return false;
    }
    return false;
}

// The stores of a parallel loop, before anything is rewritten.
class Stores {
public:
    explicit Stores(For& loop) {
        for_each_stmt(loop.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) stores_.push_back(store);
        });
        for_each_expr(loop.body, [&](const Expr& e) {
            if (e.op == Op::kArray || e.op == Op::kAtomic) handed_on_.push_back(e.var);
        });
    }

    // Whether all stores to the target's memory are to the target.
    [[nodiscard]] bool only(const Reduction& target) const {
        return !may_share(handed_on_, *target.var) &&
               std::ranges::all_of(stores_, [&](const Store* store) {
                   return !may_share(*store->array, *target.var) ||
                          (store->array == target.var && same(store->indices, target.indices));
               });
    }

private:
    std::vector<const Store*> stores_;
    std::vector<const Var*> handed_on_;  // to functions, or updated by atomic functions
};

class Normalizer {
public:
    Normalizer(Module& module, const Function& entry) : module_(module), ranges_(entry) {}

    // `on_host`: no parallel loop or Gpu block is around `body`.
    void walk(Body& body, bool on_host) {
        Body out;
        out.reserve(body.size());
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            const bool is_parallel = loop != nullptr && loop->mapping.parallel();
            if (is_parallel) {
                if (around_.empty()) stores_.emplace(*loop);
                move(*loop, on_host, out);
                around_.push_back(loop);
            } else {
                out.push_back(stmt);
            }
            const bool inside = is_parallel || stmt->kind == StmtKind::kGpu;
            for_each_body(*stmt, [&](Body& inner) { walk(inner, on_host && !inside); });
            if (is_parallel) around_.pop_back();
        }
        body = std::move(out);
    }

private:
    struct Moved {
        Reduction target;
        Var *part, *touched;
        Expr* runs;  // the loop has iterations, which all update the target; null: some may
    };

    // Whether a loop around reduces the target over its iterations.
    [[nodiscard]] bool is_reduced_around(const Reduction& target) const {
        return std::ranges::any_of(around_, [&](const For* loop) {
            return std::ranges::any_of(loop->mapping.reductions,
                                       [&](const Reduction& r) { return same_target(r, target); });
        });
    }

    // Whether at most one iteration of the parallel loops around stores to the memory of the
    // target, so that it may also store where the source does not.
    [[nodiscard]] bool is_private(const Reduction& target) const {
        if (around_.empty()) return true;
        return is_injective(*target.var) && stores_->only(target) &&
               std::ranges::all_of(around_, [&](const For* loop) {
                   Uses uses = uses_of(loop->body);
                   uses.written.insert(loop->var);
                   return std::ranges::any_of(target.indices, [&](const Expr* index) {
                       return separates(*index, *loop, uses);
                   });
               });
    }

    void move(For& loop, bool on_host, Body& out) {
        Builder b(module_, loop.span);
        std::vector<Moved> moved;
        for (const Reduction& target : loop.mapping.reductions) {
            if (target.var->type.is_scalar() || is_reduced_around(target)) continue;
            const bool is_own = is_private(target);
            Expr* runs = nullptr;
            if (always_updates(loop.body, target)) {
                if (!is_own) runs = has_iterations(b, loop);
                if (runs == nullptr) continue;
            } else if (is_own && always_exists(ranges_, target)) {
                continue;
            }
            const Scalar type = computed_in(loop.body, target);
            moved.push_back({target, b.scalar(target.var->name + "_part", type),
                             b.scalar(target.var->name + "_touched", Scalar::kBool), runs});
        }
        for (const Moved& one : moved) {
            const Scalar type = one.part->type.scalar;
            Expr* touched = one.runs == nullptr ? b.boolean(false) : one.runs;
            out.push_back(b.assign(one.part, identity(b, one.target.op, type)));
            out.push_back(b.assign(one.touched, touched));
            replace(loop, one);
        }
        out.push_back(&loop);
        for (const Moved& one : moved) {
            std::vector<Expr*> indices;
            for (const Expr* index : one.target.indices)
                indices.push_back(clone(module_, index));
            Stmt* finish =
                b.update(one.target.var, std::move(indices), one.target.op, b.var(one.part));
            finish = b.if_(b.var(one.touched), {finish});
            if (on_host) {
                auto* gpu = module_.make<Gpu>(loop.span);
                gpu->body = {finish};
                finish = gpu;
            }
            out.push_back(finish);
        }
    }

    void replace(For& loop, const Moved& one) {
        replace(loop.mapping.reductions, one);
        rewrite_stmts(loop.body, [&](Stmt* stmt, Body& out) {
            if (auto* inner = stmt->as<For>()) replace(inner->mapping.reductions, one);
            if (!updates(*stmt, one.target)) {
                out.push_back(stmt);
                return;
            }
            auto* store = stmt->as<Store>();
            Builder b(module_, stmt->span);
            Expr* value = b.convert(store->value, one.part->type.scalar);
            out.push_back(b.update(one.part, *store->update, value));
            if (one.runs == nullptr) out.push_back(b.update(one.touched, Op::kOr, b.boolean(true)));
        });
    }

    static void replace(std::vector<Reduction>& list, const Moved& one) {
        const auto found = std::ranges::find_if(
            list, [&](const Reduction& r) { return same_target(r, one.target); });
        if (found == list.end()) return;
        *found = {one.target.op, one.part, {}};
        if (one.runs == nullptr) list.push_back({Op::kOr, one.touched, {}});
    }

    Module& module_;
    const Intervals ranges_;
    std::vector<const For*> around_;  // parallel loops, the outermost first
    std::optional<Stores> stores_;    // of the outermost one
};

}  // namespace

void normalize_reductions(PassContext& context) {
    Function& entry = *context.module.entry_function();
    Normalizer(context.module, entry).walk(entry.body, true);
}

}  // namespace parpy
