// See legalize_cuda_reductions.h. The outermost parallel loop that a target is invariant in owns
// the reduction: the threads' partial values live from before that loop to after it, and are
// combined there over all threads, and over all blocks if the loop spreads over several: in a
// cluster if the options allow one and it can hold them, else in device memory.
//
// The code that combines is ordinary block-level code: one thread makes its stores, and
// legalize_cuda_barriers orders its accesses to shared memory. Thread registers are used only in
// code that differs between threads.
#include "passes/cuda/legalize_cuda_reductions.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/mapped/partial_values.h"

namespace parpy {

using namespace ir;

namespace {

struct Partial {
    Reduction target;
    Var* value = nullptr;   // each thread's
    Var* memory = nullptr;  // one per block, where several blocks combine
    Expr* runs = nullptr;   // the element may only be accessed if this holds; null: in any case
};

bool same_target(const Reduction& a, const Reduction& b) {
    return a.var == b.var && same(a.indices, b.indices);
}

// Memory that the kernel's blocks share, with the launch that passes it.
class KernelReductions {
public:
    // `most_clustered`: the largest number of blocks in a cluster.
    KernelReductions(Module& module, WarpReductions& warps, Function& kernel, Launch& launch,
                     std::int64_t most_clustered)
        : builder_(module),
          module_(module),
          warps_(warps),
          kernel_(kernel),
          launch_(launch),
          shape_(shape_of(kernel.body)),
          ranges_(kernel),
          most_clustered_(most_clustered) {}

    void run() {
        if (shape_.block == 1) return;
        kernel_.body = code(kernel_.body);
        kernel_.body.insert(kernel_.body.begin(), allocations_.begin(), allocations_.end());
    }

    // Host code: device memory to allocate once, and statements to run right before the launch.
    Body host_once, host_each;

private:
    // ------------------------------------------------------------ walking

    // The block that arrives last runs the statements behind a loop over several blocks.
    Body code(const Body& body) {
        Body out;
        for (std::size_t i = 0; i < body.size(); ++i) {
            Stmt* stmt = body[i];
            auto* loop = stmt->as<For>();
            if (loop == nullptr || loop->mapping.reductions.empty()) {
                for_each_body(*stmt, [&](Body& inner) { inner = code(inner); });
                out.push_back(stmt);
                continue;
            }
            Body rest;
            if (spreads(*loop)) {
                rest = code({body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end()});
                i = body.size();
            }
            owner(*loop, std::move(rest), out);
        }
        return out;
    }

    void owner(For& loop, Body rest, Body& out) {
        builder_.span = loop.span;
        std::vector<Partial> partials;
        for (const Reduction& target : loop.mapping.reductions) {
            const Scalar type = accumulator_of(target.op, computed_in(loop.body, target));
            Var* value = builder_.scalar(target.var->name + "_partial", type);
            partials.push_back({target, value, nullptr, nullptr});
            out.push_back(builder_.assign(value, identity(builder_, target.op, type)));
        }
        guard(loop, partials, out);
        take_over(loop, partials);
        loop.body = code(loop.body);
        out.push_back(&loop);
        builder_.span = loop.span;
        const int level = shape_.level_of(&loop);
        if (level < 0) {
            for (const Partial& partial : partials) {
                combine_block(partial, out);
                finish(partial, out);
            }
        } else if (may_cluster(static_cast<std::size_t>(level))) {
            combine_cluster(static_cast<std::size_t>(level), partials, rest, out);
        } else {
            combine_grid(static_cast<std::size_t>(level), partials, std::move(rest), out);
        }
    }

    // A loop without iterations must not access an element that may not exist.
    void guard(const For& loop, std::vector<Partial>& partials, Body& out) {
        Expr* runs = has_iterations(builder_, loop);
        if (runs == nullptr) return;
        Var* kept = nullptr;
        for (Partial& partial : partials) {
            const Reduction& target = partial.target;
            if (target.var->type.is_scalar() || always_exists(ranges_, target)) continue;
            if (kept == nullptr) {
                kept = builder_.scalar(loop.var->name + "_runs", Scalar::kBool);
                out.push_back(builder_.assign(kept, runs));
            }
            partial.runs = builder_.var(kept);
        }
    }

    // Updates of the targets in `loop` become updates of the partial values; inner loops no longer
    // reduce them.
    void take_over(For& loop, const std::vector<Partial>& partials) {
        replace(loop.body, partials, loop.mapping.level == Level::kThreads);
        loop.mapping.reductions.clear();
        loop.mapping.reduce = false;
    }

    void replace(Body& body, const std::vector<Partial>& partials, bool per_thread) {
        for (Stmt*& stmt : body) {
            if (auto* loop = stmt->as<For>()) {
                auto& list = loop->mapping.reductions;
                std::erase_if(list, [&](const Reduction& r) {
                    return std::any_of(partials.begin(), partials.end(),
                                       [&](const Partial& p) { return same_target(p.target, r); });
                });
                loop->mapping.reduce = !list.empty();
                replace(loop->body, partials, per_thread || loop->mapping.level == Level::kThreads);
                continue;
            }
            for_each_body(*stmt, [&](Body& inner) { replace(inner, partials, per_thread); });
            for (const Partial& partial : partials) {
                if (!updates(*stmt, partial.target)) continue;
                builder_.span = stmt->span;
                Stmt* own = accumulate(*stmt, partial);
                // All threads of a block run its own code; only one of them may count.
                stmt = per_thread ? own : builder_.if_(is_first_thread(), {own});
                break;
            }
        }
    }

    Stmt* accumulate(Stmt& stmt, const Partial& partial) {
        auto* assign = stmt.as<Assign>();
        auto* store = stmt.as<Store>();
        const Op op = assign != nullptr ? *assign->update : *store->update;
        Expr* value = assign != nullptr ? assign->value : store->value;
        value = builder_.convert(value, partial.value->type.scalar);
        return builder_.assign(partial.value,
                               builder_.binary(op, builder_.var(partial.value), value));
    }

    // ------------------------------------------------------------ combining

    Expr* is_first_thread() {
        return builder_.binary(Op::kEq, builder_.reg(Register::kThreadX),
                               builder_.integer(0, Scalar::kI32));
    }

    void combine_warp(const Partial& partial, Body& out) {
        Function* warp =
            warps_.function(partial.target.op, partial.value->type.scalar, kernel_.span);
        out.push_back(
            builder_.assign(partial.value, builder_.call(warp, {builder_.var(partial.value)})));
    }

    // Combines the block's values and leaves the result in every thread.
    void combine_block(const Partial& partial, Body& out) {
        combine_warp(partial, out);
        const std::int64_t warps = shape_.block / kWarpSize;
        if (warps == 1) return;
        const Scalar type = partial.value->type.scalar;
        Var* shared = shared_memory(type, warps);
        Expr* first_lane = builder_.binary(Op::kEq, builder_.reg(Register::kLane),
                                           builder_.integer(0, Scalar::kI32));
        out.push_back(
            builder_.if_(first_lane, {builder_.store(shared, {builder_.reg(Register::kWarp)},
                                                     builder_.var(partial.value))}));
        Expr* value = builder_.load(shared, {builder_.reg(Register::kLane)});
        if (warps < kWarpSize) {
            Expr* used = builder_.binary(Op::kLt, builder_.reg(Register::kLane),
                                         builder_.integer(warps, Scalar::kI32));
            value = builder_.select(used, value, identity(builder_, partial.target.op, type));
        }
        out.push_back(builder_.assign(partial.value, value));
        combine_warp(partial, out);
    }

    Var* shared_memory(Scalar type, std::int64_t warps) {
        Var*& array = shared_[type];
        if (array == nullptr) {
            array = builder_.local_array("block_" + std::string(name(type)), type, {warps},
                                         Space::kShared);
            allocations_.push_back(builder_.alloc(array));
        }
        return array;
    }

    // Makes `target = target op partial`.
    void finish(const Partial& partial, Body& out) {
        const Reduction& target = partial.target;
        const bool array = target.var->type.is_array();
        Expr* old =
            array ? builder_.load(target.var, indices_of(target)) : builder_.var(target.var);
        Expr* value = builder_.updated(old, target.op, builder_.var(partial.value));
        Stmt* update = nullptr;
        if (array) {
            update = builder_.store(target.var, indices_of(target), value);
        } else {
            update = builder_.assign(target.var, value);
        }
        out.push_back(partial.runs == nullptr ? update : builder_.if_(partial.runs, {update}));
    }

    std::vector<Expr*> indices_of(const Reduction& target) {
        std::vector<Expr*> copies;
        for (const Expr* index : target.indices)
            copies.push_back(clone(module_, index));
        return copies;
    }

    // ------------------------------------------------------------ combining blocks

    // The number of blocks in a group: those that differ in this level and the levels inside.
    [[nodiscard]] std::int64_t members_of(std::size_t level) const {
        const auto sizes = shape_.group(level);
        return sizes[0] * sizes[1] * sizes[2];
    }

    // A kernel has clusters of one shape. Blocks of different groups need not reach a barrier
    // equally often, so if reductions of several levels combine, the first one gets the clusters.
    [[nodiscard]] bool may_cluster(std::size_t level) const {
        return members_of(level) <= most_clustered_ &&
               (!clustered_level_ || *clustered_level_ == level);
    }

    // Each lane gets the value of one block of the group, which is a cluster; its first block goes
    // on with the combined value.
    void combine_cluster(std::size_t level, const std::vector<Partial>& partials, const Body& rest,
                         Body& out) {
        clustered_level_ = level;
        std::ranges::copy(shape_.group(level), launch_.cluster);
        const std::int64_t members = members_of(level);
        const auto zero = [&] { return builder_.integer(0, Scalar::kI32); };
        const auto is_member = [&] {
            return builder_.binary(Op::kLt, builder_.reg(Register::kLane),
                                   builder_.integer(members, Scalar::kI32));
        };
        Body final;
        for (const Partial& partial : partials) {
            combine_block(partial, out);
            const auto value = [&] { return builder_.var(partial.value); };
            const auto set = [&](Expr* to) { out.push_back(builder_.assign(partial.value, to)); };
            Expr* from = builder_.select(is_member(), builder_.reg(Register::kLane), zero());
            set(builder_.binary(Op::kShuffleCluster, value(), from));
            const Scalar type = partial.value->type.scalar;
            set(builder_.select(is_member(), value(), identity(builder_, partial.target.op, type)));
            combine_warp(partial, out);
            finish(partial, final);
        }
        final.insert(final.end(), rest.begin(), rest.end());
        Expr* first = builder_.binary(Op::kEq, member_number(level, Scalar::kI32), zero());
        out.push_back(builder_.if_(first, std::move(final)));
    }

    // The blocks of one group combine through device memory. There is one group for each iteration
    // of the levels outside.
    void combine_grid(std::size_t level, std::vector<Partial>& partials, Body rest, Body& out) {
        const std::int64_t members = members_of(level);
        const Groups groups = groups_outside(level);
        const Scalar index = groups.index;
        Var* tickets = device_memory("tickets", Scalar::kI32, 1, groups);
        for (Partial& partial : partials) {
            combine_block(partial, out);
            partial.memory = device_memory(partial.value->name + "s", partial.value->type.scalar,
                                           members, groups);
        }
        Var* group = builder_.scalar("group", index);
        Expr* group_value = group_number(level, groups);
        const bool one_group = group_value == nullptr;
        if (!one_group) out.push_back(builder_.assign(group, group_value));
        const auto group_index = [&]() -> Expr* {
            return one_group ? builder_.integer(0, index) : builder_.var(group);
        };
        const auto slot = [&](Expr* member) {
            if (one_group) return member;
            Expr* base =
                builder_.binary(Op::kMul, builder_.var(group), builder_.integer(members, index));
            return builder_.binary(Op::kAdd, base, member);
        };

        // One thread publishes the block's values, then takes a ticket.
        Var* last = last_block();
        Body publish;
        for (const Partial& partial : partials) {
            publish.push_back(builder_.store(partial.memory, {slot(member_number(level, index))},
                                             builder_.var(partial.value)));
        }
        publish.push_back(builder_.barrier(BarrierScope::kDevice));
        Expr* ticket = module_.make_expr(Op::kAtomic, Type::of(Scalar::kI32), builder_.span,
                                         {group_index(), builder_.integer(1, Scalar::kI32)});
        ticket->var = tickets;
        publish.push_back(builder_.store(
            last, {builder_.integer(0, Scalar::kI32)},
            builder_.binary(Op::kEq, ticket, builder_.integer(members - 1, Scalar::kI32))));
        publish.push_back(builder_.barrier(BarrierScope::kDevice));
        out.push_back(builder_.if_(is_first_thread(), std::move(publish)));

        // The block with the last ticket combines them.
        Body final;
        for (const Partial& partial : partials) {
            final.push_back(builder_.assign(
                partial.value, identity(builder_, partial.target.op, partial.value->type.scalar)));
        }
        Var* member = builder_.scalar("member", index);
        For* gather =
            builder_.loop(member, builder_.integer(0, index), builder_.integer(members, index));
        map_to_threads(gather->mapping, shape_.block, shape_.block);
        for (const Partial& partial : partials) {
            Expr* value = builder_.load(partial.memory, {slot(builder_.var(member))});
            gather->body.push_back(builder_.assign(
                partial.value,
                builder_.binary(partial.target.op, builder_.var(partial.value), value)));
        }
        final.push_back(gather);
        for (const Partial& partial : partials)
            combine_block(partial, final);
        final.push_back(
            builder_.store(tickets, {group_index()}, builder_.integer(0, Scalar::kI32)));
        for (const Partial& partial : partials)
            finish(partial, final);
        final.insert(final.end(), rest.begin(), rest.end());
        out.push_back(
            builder_.if_(builder_.load(last, {builder_.integer(0, Scalar::kI32)}), final));
    }

    Var* last_block() {
        if (last_block_ == nullptr) {
            last_block_ = builder_.local_array("last_block", Scalar::kBool, {1}, Space::kShared);
            allocations_.push_back(builder_.alloc(last_block_));
        }
        return last_block_;
    }

    // The number of this block in its group.
    Expr* member_number(std::size_t level, Scalar index) {
        Expr* number = nullptr;
        for (std::size_t i = level; i < shape_.levels.size(); ++i) {
            Expr* own = builder_.convert(shape_.index(builder_, i), index);
            number = number == nullptr
                         ? own
                         : builder_.binary(
                               Op::kAdd,
                               builder_.binary(Op::kMul, number,
                                               builder_.integer(shape_.levels[i].size, index)),
                               own);
        }
        return number;
    }

    struct Groups {
        std::vector<Expr*> counts;  // for each level outside; null if it is constant
        std::vector<std::int64_t> constants;
        Scalar index = Scalar::kI64;
        bool constant = true;
        std::int64_t total = 1;  // if constant
    };

    Groups groups_outside(std::size_t level) {
        Groups groups;
        for (std::size_t i = 0; i < level; ++i) {
            const For& loop = *shape_.levels[i].loop;
            const std::optional<std::int64_t> trips = constant_trip_count(loop);
            groups.constants.push_back(trips.value_or(0));
            groups.counts.push_back(trips ? nullptr : trip_count(builder_, loop));
            groups.constant = groups.constant && trips.has_value();
            groups.total *= trips.value_or(1);
        }
        if (groups.constant && groups.total < (std::int64_t{1} << 31) / shape_.blocks()) {
            groups.index = Scalar::kI32;
        }
        return groups;
    }

    // The number of the iteration of the levels outside; null if there is just one group.
    Expr* group_number(std::size_t level, const Groups& groups) {
        Expr* number = nullptr;
        for (std::size_t i = 0; i < level; ++i) {
            const For& loop = *shape_.levels[i].loop;
            Expr* iteration = iteration_number(builder_, loop);
            iteration = builder_.convert(iteration, groups.index);
            if (number != nullptr) {
                Expr* count =
                    groups.counts[i] == nullptr
                        ? builder_.integer(groups.constants[i], groups.index)
                        : builder_.convert(clone(module_, groups.counts[i]), groups.index);
                number = builder_.binary(Op::kMul, number, count);
                iteration = builder_.binary(Op::kAdd, number, iteration);
            }
            number = iteration;
        }
        return number;
    }

    // Device memory with `each` elements per group: a parameter of the kernel, allocated by the
    // host.
    Var* device_memory(const std::string& name, Scalar type, std::int64_t each,
                       const Groups& groups) {
        const std::int64_t extent = each * std::max<std::int64_t>(groups.total, 1);
        Var* host =
            builder_.local_array(kernel_.name + "_" + name, type, {extent}, Space::kScratch);
        Var* param = builder_.local_array(name, type, {extent}, Space::kGlobal);
        param->written = true;
        if (groups.constant) {
            host_once.push_back(builder_.alloc(host));
        } else {
            Expr* size = nullptr;
            for (std::size_t i = 0; i < groups.counts.size(); ++i) {
                Expr* count = groups.counts[i] == nullptr ? builder_.integer(groups.constants[i])
                                                          : in_host_terms(groups.counts[i]);
                count = builder_.convert(count, Scalar::kI64);
                size = size == nullptr ? count : builder_.binary(Op::kMul, size, count);
            }
            if (each != 1) size = builder_.binary(Op::kMul, size, builder_.integer(each));
            Var* host_size = builder_.scalar(host->name + "_size", Scalar::kI64);
            Var* param_size = builder_.scalar(name + "_size", Scalar::kI64);
            host->dims[0].extent.reset();
            host->dims[0].extent_var = host_size;
            param->dims[0].extent.reset();
            param->dims[0].extent_var = param_size;
            host_each.push_back(builder_.assign(host_size, size));
            host_each.push_back(builder_.alloc(host));
            kernel_.params.push_back(param_size);
            launch_.arguments.push_back(builder_.var(host_size));
        }
        kernel_.params.push_back(param);
        launch_.arguments.push_back(builder_.array(host));
        return param;
    }

    // An expression of the kernel's parameters in terms of the host's variables (split_kernels
    // ensures that the bounds of loops around a grid reduction have this form).
    Expr* in_host_terms(const Expr* expr) {
        Substitution substitution;
        for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
            const Expr* argument = launch_.arguments[i];
            if (argument->op == Op::kArray) {
                substitution.vars[kernel_.params[i]] = argument->var;
            } else {
                substitution.values[kernel_.params[i]] = argument;
            }
        }
        return clone(module_, expr, substitution);
    }

    Builder builder_;
    Module& module_;
    WarpReductions& warps_;
    Function& kernel_;
    Launch& launch_;
    const KernelShape shape_;
    const Intervals ranges_;
    const std::int64_t most_clustered_;
    std::optional<std::size_t> clustered_level_;  // the level whose groups are the clusters
    std::unordered_map<Scalar, Var*> shared_;
    Var* last_block_ = nullptr;
    Body allocations_;
};

// ---------------------------------------------------------------- updates

class PlainUpdates {
public:
    explicit PlainUpdates(Module& module) : module_(module), builder_(module) {}

    void run(Body& body) {
        rewrite_stmts(body, [&](Stmt* stmt, Body& out) {
            builder_.span = stmt->span;
            if (auto* assign = stmt->as<Assign>(); assign != nullptr && assign->update) {
                assign->value =
                    builder_.updated(builder_.var(assign->var), *assign->update, assign->value);
                assign->update.reset();
            } else if (auto* store = stmt->as<Store>();
                       store != nullptr && store->update && !store->atomic) {
                plain(*store, out);
            }
            out.push_back(stmt);
        });
    }

private:
    void plain(Store& store, Body& out) {
        std::vector<Expr*> copies;
        for (Expr*& index : store.indices) {
            if (uses_of(*index).calls) {  // evaluated once
                Var* once = builder_.scalar("index", index->type.scalar);
                out.push_back(builder_.assign(once, index));
                index = builder_.var(once);
            }
            copies.push_back(clone(module_, index));
        }
        store.value =
            builder_.updated(builder_.load(store.array, copies), *store.update, store.value);
        store.update.reset();
    }

    Module& module_;
    Builder builder_;
};

// Threads that fail leave the kernel, and the shared memory of a block that all its threads have
// left is no longer there for others to read.
bool may_fail(const Module& module, const Function& kernel) {
    return std::ranges::any_of(module.functions, [&](const Function* each) {
        return (each == &kernel || each->kind == FunctionKind::kHelper) &&
               any_stmt(each->body, [](const Stmt& s) { return s.kind == StmtKind::kFail; });
    });
}

}  // namespace

void legalize_cuda_reductions(PassContext& context) {
    Module& module = context.module;
    const Options& options = context.options;
    Function& entry = *module.entry_function();
    WarpReductions warps(module);
    Body once;
    rewrite_stmts(entry.body, [&](Stmt* stmt, Body& out) {
        if (auto* launch = stmt->as<Launch>()) {
            const bool clusters =
                options.use_cuda_thread_block_clusters && !may_fail(module, *launch->kernel);
            KernelReductions kernel(module, warps, *launch->kernel, *launch,
                                    clusters ? options.max_thread_blocks_per_cluster : 1);
            kernel.run();
            once.insert(once.end(), kernel.host_once.begin(), kernel.host_once.end());
            out.insert(out.end(), kernel.host_each.begin(), kernel.host_each.end());
        }
        out.push_back(stmt);
    });
    entry.body.insert(entry.body.begin(), once.begin(), once.end());
    PlainUpdates updates(module);
    for (Function* function : module.functions)
        updates.run(function->body);
}

}  // namespace parpy
