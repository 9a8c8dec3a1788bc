// See pair_iterations.h.
#include "passes/cuda/pair_iterations.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// More of these need more registers than a thread of a full block has.
constexpr std::int64_t kMostLoadedBytes = 64;
constexpr std::size_t kMostOperations = 48;

// Bytes that a multiprocessor must have in flight to keep the memory busy: on an H200 4.8 TB/s for
// 0.65 us, over 132 of them. Threads that have more in flight in one iteration gain nothing from a
// second one, and lose by its registers.
constexpr std::int64_t kEnoughBytes = 24 << 10;

// Bytes that an iteration loads for itself; nothing if it has too many operations.
std::optional<std::int64_t> loaded_bytes(const For& loop) {
    VarSet own = uses_of(loop.body).written;
    own.insert(loop.var);
    std::int64_t bytes = 0;
    std::size_t operations = 0;
    for_each_expr(loop.body, [&](const Expr& e) {
        const bool varies =
            e.op == Op::kLoad &&
            std::ranges::any_of(uses_of(e).read, [&](const Var* var) { return own.contains(var); });
        if (varies) bytes += size_in_bytes(e.type.scalar);
        ++operations;
    });
    for (const Stmt* stmt : loop.body) {
        const auto* store = stmt->as<Store>();
        if (store != nullptr && store->update) bytes += size_in_bytes(store->array->type.scalar);
    }
    return operations <= kMostOperations ? std::optional(bytes) : std::nullopt;
}

// Whether no statement loads an element that an earlier one has stored, and every scalar is private
// to the iteration.
bool separable(const For& loop) {
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

// An iteration, split into its loads and its stores.
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
    Pairs(Module& module, const Launch& launch) : builder_(module), kernel_(*launch.kernel) {
        std::int64_t threads = 1;
        for (const Expr* size : launch.block)
            threads *=
                size == nullptr ? 1 : std::max<std::int64_t>(constant_integer(size).value_or(1), 1);
        resident_ = std::min(kResidentThreads / threads, kResidentBlocks) * threads;
    }

    void run() { body(kernel_.body); }

private:
    void body(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            auto* loop = stmt->as<For>();
            if (loop != nullptr && loop->mapping.share && !loop->mapping.unroll &&
                constant_integer(loop->step) && pays(*loop) && separable(*loop)) {
                pair(*loop, out);
            } else {
                out.push_back(stmt);
            }
        }
        stmts = std::move(out);
    }

    // Consecutive iterations often load the same elements.
    [[nodiscard]] bool pays(const For& loop) const {
        const auto bytes = loaded_bytes(loop);
        if (!bytes || *bytes == 0 || *bytes > kMostLoadedBytes) return false;
        return std::abs(*constant_integer(loop.step)) < kWarpSize ||
               *bytes * resident_ < kEnoughBytes;
    }

    void pair(For& loop, Body& out) {
        Module& module = builder_.module();
        const Scalar type = loop.var->type.scalar;
        const std::int64_t step = *constant_integer(loop.step);
        const auto ahead = [&](Expr* from, std::int64_t steps) {
            const std::int64_t distance = steps * step;
            if (const auto value = constant_integer(from))
                return builder_.integer(*value + distance, type);
            return builder_.binary(distance < 0 ? Op::kSub : Op::kAdd, from,
                                   builder_.integer(std::abs(distance), type));
        };
        builder_.span = loop.span;
        if (loop.end->op != Op::kConst && loop.end->op != Op::kVar) {
            Var* end = builder_.scalar(loop.var->name + "_end", type);
            out.push_back(builder_.assign(end, loop.end));
            loop.end = builder_.var(end);
        }
        Var* rest = builder_.scalar(loop.var->name + "_rest", type);
        out.push_back(builder_.assign(rest, clone(module, loop.begin)));

        Var* first = builder_.scalar(loop.var->name, type);
        Var* next = builder_.scalar(loop.var->name + "_next", type);
        Halves a = halves(builder_, loop.body, "", renaming(*loop.var, *first));
        Halves b = halves(builder_, loop.body, "_next", renaming(*loop.var, *next));
        builder_.span = loop.span;
        Body both = {builder_.assign(next, ahead(builder_.var(first), 1))};
        for (const Body* part : {&a.values, &b.values, &a.stores, &b.stores})
            both.insert(both.end(), part->begin(), part->end());
        both.push_back(builder_.assign(rest, ahead(builder_.var(first), 2)));
        For* pairs = builder_.loop(first, loop.begin, ahead(clone(module, loop.end), -1),
                                   std::move(both), builder_.integer(2 * step, type));
        pairs->labels = loop.labels;
        out.push_back(pairs);
        out.push_back(builder_.assign(loop.var, builder_.var(rest)));
        Expr* left =
            builder_.binary(step > 0 ? Op::kLt : Op::kGt, builder_.var(loop.var), loop.end);
        out.push_back(builder_.if_(left, std::move(loop.body)));
    }

    static Substitution renaming(const Var& from, Var& to) {
        Substitution result;
        result.vars[&from] = &to;
        return result;
    }

    Builder builder_;
    Function& kernel_;
    std::int64_t resident_ = 0;  // threads of a multiprocessor
};

}  // namespace

void pair_iterations(PassContext& context) {
    for_each_stmt(context.module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) Pairs(context.module, *launch).run();
    });
}

}  // namespace parpy
