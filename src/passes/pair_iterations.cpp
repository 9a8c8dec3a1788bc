// See pair_iterations.h.
#include "passes/pair_iterations.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analysis/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/geometry.h"

namespace parpy {

using namespace ir;

namespace {

// More than these take more registers than a thread of a full block has.
constexpr std::int64_t kMostLoadedBytes = 64;
constexpr std::size_t kMostOperations = 48;

// Bytes that a multiprocessor must have asked for to keep the memory busy: on an H200 4.8 TB/s for
// 0.65 us, over 132 of them. Threads that ask for more in one iteration gain nothing from a second
// one, and lose by its registers.
constexpr std::int64_t kEnoughBytes = 24 << 10;

std::size_t operations(const Body& body) {
    std::size_t count = 0;
    for_each_expr(body, [&](const Expr&) { ++count; });
    return count;
}

// Bytes that an iteration of a separable loop loads for itself.
std::int64_t loaded_bytes(const For& loop) {
    VarSet own = uses_of(loop.body).written;
    own.insert(loop.var);
    std::int64_t bytes = 0;
    for_each_expr(loop.body, [&](const Expr& e) {
        const bool varies =
            e.op == Op::kLoad &&
            std::ranges::any_of(uses_of(e).read, [&](const Var* var) { return own.contains(var); });
        if (varies) bytes += size_in_bytes(e.type.scalar);
    });
    for (const Stmt* stmt : loop.body) {
        const auto* store = stmt->as<Store>();
        if (store != nullptr && store->update) bytes += size_in_bytes(store->array->type.scalar);
    }
    return bytes;
}

// Nothing that a statement loads has been stored by one in front of it, and every scalar is the
// iteration's own.
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

// Only assignments, some of them under conditions.
bool only_loads(const Body& body) {
    return std::ranges::all_of(body, [](const Stmt* stmt) {
        const auto* branch = stmt->as<If>();
        if (branch != nullptr)
            return only_loads(branch->then_body) && only_loads(branch->else_body);
        return stmt->kind == StmtKind::kAssign;
    });
}

// Whether the loop only loads, some of it under conditions: the compiler does not load for the next
// iteration in front of them.
bool branches(const For& loop) {
    const bool any = std::ranges::any_of(
        loop.body, [](const Stmt* stmt) { return stmt->kind == StmtKind::kIf; });
    return any && only_loads(loop.body) && !uses_of(loop.body).calls;
}

// Calls fn(load) for each load below `expr` that every evaluation of `expr` makes, outermost ones.
template <class F>
void for_each_certain_load(Expr& expr, F&& fn) {
    if (expr.op == Op::kLoad) return fn(expr);
    const bool first_decides = expr.op == Op::kAnd || expr.op == Op::kOr || expr.op == Op::kSelect;
    const std::size_t certain = first_decides ? 1 : expr.operands.size();
    for (std::size_t i = 0; i < certain; ++i)
        for_each_certain_load(*expr.operands[i], fn);
}

// The part of a loop of branches that comes in front of both iterations.
struct Front {
    std::size_t scalars = 0;         // the first statements, which load nothing
    std::vector<const Expr*> loads;  // for the iteration itself, by every one; each once
};

Front front_of(const For& loop) {
    Front front;
    const VarSet exposed = exposed_reads(loop.body);
    Body rest = loop.body;
    VarSet own;
    own.insert(loop.var);
    while (const auto* assign = rest.empty() ? nullptr : rest.front()->as<Assign>()) {
        const bool loads = !uses_of(*assign->value).loaded.empty();
        rest.erase(rest.begin());
        if (assign->update || loads || exposed.contains(assign->var) ||
            uses_of(rest).written.contains(assign->var))
            break;
        own.insert(assign->var);
        ++front.scalars;
    }
    rest.assign(loop.body.begin() + static_cast<std::ptrdiff_t>(front.scalars), loop.body.end());
    const VarSet written = uses_of(rest).written;
    for (Stmt* stmt : rest) {
        for_each_slot(*stmt, [&](Expr* slot) {
            for_each_certain_load(*slot, [&](const Expr& load) {
                const auto among = [&](const VarSet& set) {
                    return std::ranges::any_of(uses_of(load).read,
                                               [&](const Var* var) { return set.contains(var); });
                };
                const bool known =
                    std::ranges::any_of(front.loads, [&](const Expr* e) { return same(*e, load); });
                if (among(own) && !among(written) && !known) front.loads.push_back(&load);
            });
        });
    }
    return front;
}

// An iteration in two halves: what it loads, and what comes behind the loads of both iterations.
struct Halves {
    Body values, rest;
};

// The second half is the iteration itself.
Halves halves(Builder& builder, const Body& body, const Front& front, const std::string& suffix,
              Substitution renamed) {
    Module& module = builder.module();
    Halves result;
    const auto keep = [&](const std::string& name, const Expr& value) {
        Var* own = builder.scalar(name + suffix, value.type.scalar);
        result.values.push_back(builder.assign(own, clone(module, &value, renamed)));
        return own;
    };
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (i >= front.scalars) {
            result.rest.push_back(clone(module, body[i], renamed));
            continue;
        }
        const auto* scalar = body[i]->as<Assign>();
        renamed.vars[scalar->var] = keep(scalar->var->name, *scalar->value);
    }
    for (const Expr* load : front.loads)
        keep(load->var->name + "_value", *load);
    for (std::size_t i = front.scalars; i < result.values.size(); ++i) {
        const auto& known = *result.values[i]->as<Assign>();
        const auto replaced = [&](Expr* e) {
            return same(*e, *known.value) ? builder.var(known.var) : e;
        };
        for (std::size_t later = i + 1; later < result.values.size(); ++later)
            rewrite_slots(*result.values[later], replaced);
        rewrite(result.rest, replaced);
    }
    return result;
}

// The second half are the stores.
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
        result.rest.push_back(builder.store(store->array, std::move(at), builder.var(kept)));
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
            if (loop == nullptr || !fits(*loop) || !pair(*loop, out)) out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    static bool fits(const For& loop) {
        return loop.mapping.share && !loop.mapping.unroll && constant_integer(loop.step) &&
               operations(loop.body) <= kMostOperations;
    }

    // Whether to load `bytes` per iteration for two of them. Iterations that follow each other
    // often load the same elements.
    [[nodiscard]] bool pays(const For& loop, std::int64_t bytes) const {
        if (bytes == 0 || bytes > kMostLoadedBytes) return false;
        return std::abs(*constant_integer(loop.step)) < kWarpSize ||
               bytes * resident_ < kEnoughBytes;
    }

    bool pair(For& loop, Body& out) {
        if (separable(loop)) {
            if (!pays(loop, loaded_bytes(loop))) return false;
            pair(loop, out, [&](const std::string& suffix, const Substitution& renamed) {
                return halves(builder_, loop.body, suffix, renamed);
            });
            return true;
        }
        if (!branches(loop)) return false;
        const Front front = front_of(loop);
        std::int64_t bytes = 0;
        for (const Expr* load : front.loads)
            bytes += size_in_bytes(load->type.scalar);
        if (!pays(loop, bytes)) return false;
        pair(loop, out, [&](const std::string& suffix, const Substitution& renamed) {
            return halves(builder_, loop.body, front, suffix, renamed);
        });
        return true;
    }

    template <class F>
    void pair(For& loop, Body& out, F&& halves_of) {
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
        const Halves a = halves_of("", renaming(*loop.var, *first));
        const Halves b = halves_of("_next", renaming(*loop.var, *next));
        builder_.span = loop.span;
        Body both = {builder_.assign(next, ahead(builder_.var(first), 1))};
        for (const Body* part : {&a.values, &b.values, &a.rest, &b.rest})
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
