// See pair_iterations.h.
#include "passes/pair_iterations.h"

#include <algorithm>

#include "analysis/intervals.h"
#include "analysis/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// More than these take more registers than a thread of a full block has.
constexpr std::size_t kMostLoads = 8;
constexpr std::size_t kMostOperations = 48;

// Nothing that a statement loads has been stored by one in front of it, and every scalar is the
// iteration's own.
bool separable(const For& loop) {
    std::size_t loads = 0, operations = 0;
    for_each_expr(loop.body, [&](const Expr& e) {
        loads += e.op == Op::kLoad ? 1 : 0;
        ++operations;
    });
    for (const Stmt* stmt : loop.body) {
        const auto* store = stmt->as<Store>();
        loads += store != nullptr && store->update ? 1 : 0;
    }
    if (loads == 0 || loads > kMostLoads || operations > kMostOperations) return false;
    VarSet stored, written;
    for (const Stmt* stmt : loop.body) {
        const Uses uses = uses_of(*stmt);
        if (uses.calls) return false;
        if (const auto* assign = stmt->as<Assign>()) {
            if (assign->update || !written.insert(assign->var)) return false;
        } else if (const auto* store = stmt->as<Store>()) {
            if (store->atomic || store->array->space != Space::kGlobal) return false;
        } else {
            return false;
        }
        const bool known = std::ranges::any_of(
            uses.loaded, [&](const Var* array) { return may_share(stored, *array); });
        if (known) return false;
        stored.insert(uses.stored);
    }
    const VarSet exposed = exposed_reads(loop.body);
    return !stored.empty() && std::ranges::none_of(written, [&](const Var* scalar) {
        return exposed.contains(scalar);
    });
}

// An iteration in two halves.
struct Halves {
    Body values, stores;
};

Halves halves(Builder& builder, const Body& body, const std::string& suffix, Substitution renamed) {
    Module& module = builder.module();
    Halves result;
    for (const Stmt* stmt : body) {
        builder.span = stmt->span;
        if (const auto* assign = stmt->as<Assign>()) {
            Expr* value = clone(module, assign->value, renamed);
            Var* own = builder.scalar(assign->var->name + suffix, assign->var->type.scalar);
            renamed.vars[assign->var] = own;
            result.values.push_back(builder.assign(own, value));
            continue;
        }
        const auto* store = stmt->as<Store>();
        std::vector<Expr*> at;
        for (const Expr* subscript : store->indices)
            at.push_back(clone(module, subscript, renamed));
        Expr* value = clone(module, store->value, renamed);
        if (store->update) {
            std::vector<Expr*> same;
            for (const Expr* subscript : at)
                same.push_back(clone(module, subscript));
            value =
                builder.updated(builder.load(store->array, std::move(same)), *store->update, value);
        }
        Var* kept = builder.scalar(store->array->name + "_value" + suffix, value->type.scalar);
        result.values.push_back(builder.assign(kept, value));
        result.stores.push_back(builder.store(store->array, std::move(at), builder.var(kept)));
    }
    for (std::size_t i = 0; i < body.size(); ++i)
        result.values[i]->labels = body[i]->labels;
    return result;
}

class Pairs {
public:
    Pairs(Module& module, Function& kernel)
        : builder_(module), kernel_(kernel), intervals_(kernel) {}

    void run() { body(kernel_.body); }

private:
    void body(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            auto* loop = stmt->as<For>();
            if (loop != nullptr && loop->mapping.share && !loop->mapping.unroll && counts(*loop) &&
                separable(*loop)) {
                pair(*loop, out);
            }
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // The step is known, and the variable can count two steps beyond the end.
    [[nodiscard]] bool counts(const For& loop) const {
        const auto step = constant_integer(loop.step);
        std::int64_t twice = 0;
        if (!step || __builtin_mul_overflow(*step, 2, &twice)) return false;
        const Scalar type = loop.var->type.scalar;
        if (type == Scalar::kI64) return true;
        const Interval end = intervals_.of(loop.end), all = Interval::of_type(type);
        return twice > 0 ? end.high <= all.high - twice : end.low >= all.low - twice;
    }

    void pair(For& loop, Body& out) {
        Module& module = builder_.module();
        builder_.span = loop.span;
        const Scalar type = loop.var->type.scalar;
        if (loop.end->op != Op::kConst && loop.end->op != Op::kVar) {
            Var* end = builder_.scalar(loop.var->name + "_end", type);
            out.push_back(builder_.assign(end, loop.end));
            loop.end = builder_.var(end);
        }
        Var* next = builder_.scalar(loop.var->name + "_next", type);
        Substitution second;
        second.vars[loop.var] = next;
        Halves a = halves(builder_, loop.body, "", {});
        Halves b = halves(builder_, loop.body, "_next", second);
        Body both = std::move(a.values);
        for (const Body* part : {&b.values, &a.stores, &b.stores})
            both.insert(both.end(), part->begin(), part->end());
        builder_.span = loop.span;
        const std::int64_t step = *constant_integer(loop.step);
        Expr* inside = builder_.binary(step > 0 ? Op::kLt : Op::kGt, builder_.var(next),
                                       clone(module, loop.end));
        Stmt* index =
            builder_.assign(next, builder_.binary(Op::kAdd, builder_.var(loop.var), loop.step));
        loop.body = {index, builder_.if_(inside, std::move(both), std::move(loop.body))};
        loop.step = builder_.integer(2 * step, type);
        loop.mapping.share = false;
    }

    Builder builder_;
    Function& kernel_;
    const Intervals intervals_;
};

}  // namespace

void pair_iterations(PassContext& context) {
    for_each_stmt(context.module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) Pairs(context.module, *launch->kernel).run();
    });
}

}  // namespace parpy
