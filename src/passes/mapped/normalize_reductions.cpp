// See normalize_reductions.h.
#include "passes/mapped/normalize_reductions.h"

#include <algorithm>

#include "analysis/integers/intervals.h"
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

// Every iteration that runs `body` updates the target.
bool always_updates(const Body& body, const Reduction& target) {
    for (const Stmt* stmt : body) {
        if (updates(*stmt, target)) return true;
        if (leaves_loop(*stmt)) return false;
    }
    return false;
}

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
                move(*loop, on_host, out);
            } else {
                out.push_back(stmt);
            }
            const bool inside = is_parallel || stmt->kind == StmtKind::kGpu;
            for_each_body(*stmt, [&](Body& inner) { walk(inner, on_host && !inside); });
        }
        body = std::move(out);
    }

private:
    struct Moved {
        Reduction target;
        Var *part, *touched;
    };

    void move(For& loop, bool on_host, Body& out) {
        Builder b(module_, loop.span);
        std::vector<Moved> moved;
        for (const Reduction& target : loop.mapping.reductions) {
            if (target.var->type.is_scalar() || always_exists(ranges_, target) ||
                always_updates(loop.body, target)) {
                continue;
            }
            const Scalar type = computed_in(loop.body, target);
            moved.push_back({target, b.scalar(target.var->name + "_part", type),
                             b.scalar(target.var->name + "_touched", Scalar::kBool)});
        }
        for (const Moved& one : moved) {
            const Scalar type = one.part->type.scalar;
            out.push_back(b.assign(one.part, identity(b, one.target.op, type)));
            out.push_back(b.assign(one.touched, b.boolean(false)));
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
            out.push_back(b.update(one.touched, Op::kOr, b.boolean(true)));
        });
    }

    static void replace(std::vector<Reduction>& list, const Moved& one) {
        const auto found = std::ranges::find_if(
            list, [&](const Reduction& r) { return same_target(r, one.target); });
        if (found == list.end()) return;
        *found = {one.target.op, one.part, {}};
        list.push_back({Op::kOr, one.touched, {}});
    }

    Module& module_;
    const Intervals ranges_;
};

}  // namespace

void normalize_reductions(PassContext& context) {
    Function& entry = *context.module.entry_function();
    Normalizer(context.module, entry).walk(entry.body, true);
}

}  // namespace parpy
