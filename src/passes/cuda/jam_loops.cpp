// See jam_loops.h. If the copies do not divide the number of iterations, the statements of
// sequential loops repeat the last iteration where that is harmless (analysis/jams.h), and
// everything else is guarded.
#include "passes/cuda/jam_loops.h"

#include <algorithm>
#include <map>

#include "analysis/geometry.h"
#include "analysis/jams.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// A parallel loop of which a thread runs `copies` iterations, `distance` apart.
struct Lane {
    For* loop = nullptr;
    std::int64_t trips = 0;
    std::int64_t copies = 1;
    std::int64_t distance = 0;
    Var* first = nullptr;
    [[nodiscard]] bool exact() const { return copies * distance == trips; }
};

class KernelJams {
public:
    KernelJams(Module& module, Function& kernel)
        : builder_(module), module_(module), kernel_(kernel), shape_(shape_of(kernel.body)) {}

    void run() { walk(kernel_.body); }

private:
    void walk(Body& body) {
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr && loop->mapping.parallel() && jam(*loop)) continue;
            for_each_body(*stmt, [&](Body& inner) { walk(inner); });
        }
    }

    // ------------------------------------------------------------ which iterations

    bool jam(For& outermost) {
        std::vector<For*> nest = {&outermost};
        const auto inner = [&]() -> For* {
            const Body& body = nest.back()->body;
            auto* loop = body.size() == 1 ? body.front()->as<For>() : nullptr;
            return loop != nullptr && loop->mapping.parallel() ? loop : nullptr;
        };
        while (For* loop = inner())
            nest.push_back(loop);
        if (nest.back()->mapping.level != Level::kThreads) return false;
        std::optional<std::vector<Lane>> lanes = lanes_of(nest);
        if (!lanes) return false;
        if (!uses_of(outermost).allocated.empty()) return false;  // an iteration has its own
        const std::optional<Jam> found = jam_of(nest);
        if (!found) return false;
        for (std::size_t i = 0; i < nest.size(); ++i) {
            if (!found->shares[i]) (*lanes)[i].copies = 1;
        }
        if (!within_limits(*lanes, found->most) || wanted_later(outermost)) return false;
        std::erase_if(*lanes, [](const Lane& lane) { return lane.copies == 1; });
        if (lanes->empty()) return false;
        keep(*nest.back(), found->elements);
        write_out(*nest.back(), *lanes);
        return true;
    }

    // One lane for each loop; nothing if a loop cannot be jammed.
    std::optional<std::vector<Lane>> lanes_of(const std::vector<For*>& nest) const {
        std::vector<Lane> lanes;
        for (For* loop : nest) {
            const auto trips = constant_trip_count(*loop);
            if (!trips || *trips < 1 || !loop->mapping.reductions.empty() || loop->mapping.reduce)
                return std::nullopt;
            const bool threads = loop->mapping.level == Level::kThreads;
            const int level = shape_.level_of(loop);
            std::int64_t total = threads ? shape_.block : 1;
            if (level >= 0) total *= shape_.levels[static_cast<std::size_t>(level)].size;
            Lane lane{loop, *trips};
            lane.copies = (*trips + total - 1) / total;
            if (lane.copies > kMostJammed || !counts_to(*loop, 2 * *trips)) lane.copies = 1;
            lane.distance = (*trips + lane.copies - 1) / lane.copies;
            lanes.push_back(lane);
        }
        return lanes;
    }

    // Whether the variable can count so many iterations without overflow.
    static bool counts_to(const For& loop, std::int64_t iterations) {
        const auto begin = constant_integer(loop.begin), step = constant_integer(loop.step);
        std::int64_t last = 0;
        return begin && step && !__builtin_mul_overflow(iterations, *step, &last) &&
               !__builtin_add_overflow(last, *begin, &last) &&
               (loop.var->type.scalar == Scalar::kI64 || last == static_cast<std::int32_t>(last));
    }

    // Reduces the copies of the outer loops to 1 if there are too many in all.
    static bool within_limits(std::vector<Lane>& lanes, std::int64_t most) {
        std::int64_t copies = 1;
        for (auto lane = lanes.rbegin(); lane != lanes.rend(); ++lane) {
            if (copies * lane->copies > most) lane->copies = 1;
            copies *= lane->copies;
        }
        return copies > 1;
    }

    bool wanted_later(const For& loop) const {
        const Liveness liveness(kernel_);
        const Uses uses = uses_of(loop);
        return std::ranges::any_of(uses.written,
                                   [&](const Var* v) { return liveness.after(&loop).contains(v); });
    }

    // ------------------------------------------------------------ elements in registers

    void keep(For& innermost, const std::vector<KeptElement>& elements) {
        for (const KeptElement& element : elements) {
            builder_.span = element.loop->span;
            const Scalar type = element.array->type.scalar;
            Var* kept = builder_.scalar(element.array->name + "_kept", type);
            const auto place = [&] {
                std::vector<Expr*> indices;
                for (const Expr* index : element.indices)
                    indices.push_back(clone(module_, index));
                return indices;
            };
            Stmt* load = builder_.assign(kept, builder_.load(element.array, place()));
            Stmt* store = builder_.store(element.array, place(), builder_.var(kept));
            rewrite(element.loop->body, [&](Expr* e) {
                return e->op == Op::kLoad && e->var == element.array ? builder_.var(kept) : e;
            });
            rewrite_stmts(element.loop->body, [&](Stmt* stmt, Body& out) {
                const auto* old = stmt->as<Store>();
                if (old == nullptr || old->array != element.array) {
                    out.push_back(stmt);
                    return;
                }
                builder_.span = stmt->span;
                out.push_back(old->update ? builder_.update(kept, *old->update, old->value)
                                          : builder_.assign(kept, old->value));
            });
            Body& body = innermost.body;
            const auto at = std::ranges::find(body, static_cast<Stmt*>(element.loop));
            const auto placed = body.insert(at, load);
            body.insert(placed + 2, store);
        }
    }

    // ------------------------------------------------------------ the copies

    void write_out(For& innermost, std::vector<Lane>& lanes) {
        Body body = std::move(innermost.body);
        stored_ = uses_of(body).stored;
        expand(body, lanes);
        for (Lane& lane : lanes) {
            For& loop = *lane.loop;
            builder_.span = loop.span;
            lane.first = builder_.scalar(loop.var->name + "_first", loop.var->type.scalar);
        }
        innermost.body.clear();
        for (const auto& [var, array] : arrays_) {
            builder_.span = var->span;
            innermost.body.push_back(builder_.alloc(array));
        }
        repeats_ = harmless(body);
        const Body jammed = side_by_side(body, lanes, false);
        innermost.body.insert(innermost.body.end(), jammed.begin(), jammed.end());
        for (Lane& lane : lanes) {
            For& loop = *lane.loop;
            const Scalar type = loop.var->type.scalar;
            loop.var = lane.first;
            loop.begin = builder_.integer(0, type);
            loop.end = builder_.integer(lane.distance, type);
            loop.step = builder_.integer(1, type);
        }
        arrays_.clear();
    }

    // Replaces scalars that pass from one sequence of copied statements to another by arrays.
    void expand(const Body& body, const std::vector<Lane>& lanes) {
        std::vector<std::int64_t> extents;
        for (const Lane& lane : lanes)
            extents.push_back(lane.copies);
        std::map<const Var*, std::size_t> stretch;  // the only one that uses the scalar
        std::vector<Var*> passed;
        std::size_t number = 0;
        for_each_stretch(body, [&](const Body& statements) {
            ++number;
            const VarSet exposed = exposed_reads(statements);
            const Uses uses = uses_of(statements);
            const auto found = [&](Var* var) {
                const auto known = stretch.try_emplace(var, number).first;
                if (known->second == number && !exposed.contains(var)) return;
                if (std::ranges::find(passed, var) == passed.end()) passed.push_back(var);
            };
            for (Var* var : uses.written)
                found(var);
            for (Var* var : uses.read)
                found(var);
        });
        VarSet assigned;
        for_each_stmt(body, [&](const Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) assigned.insert(assign->var);
        });
        for (Var* var : passed) {
            if (!assigned.contains(var)) continue;
            arrays_.emplace_back(
                var, builder_.local_array(var->name, var->type.scalar, extents, Space::kLocal));
        }
    }

    // Calls fn for every sequence of statements without a loop; loops are entered.
    template <class F>
    static void for_each_stretch(const Body& body, F&& fn) {
        Body stretch;
        const auto end = [&] {
            if (!stretch.empty()) fn(stretch);
            stretch.clear();
        };
        for (Stmt* stmt : body) {
            const auto* loop = stmt->as<For>();
            if (loop == nullptr) {
                stretch.push_back(stmt);
                continue;
            }
            end();
            for_each_stretch(loop->body, fn);
        }
        end();
    }

    // Whether the statements access arrays that the nest stores to.
    [[nodiscard]] bool touches_stored(const Uses& uses) const {
        return !uses.stored.empty() || std::ranges::any_of(uses.loaded, [&](const Var* array) {
            return stored_.contains(array);
        });
    }

    // Whether statements of sequential loops may run for an iteration too many: they use no scalar
    // in a subscript that earlier guarded statements leave unassigned.
    [[nodiscard]] bool harmless(const Body& body) const {
        bool result = true;
        for_each_stretch(body, [&](const Body& statements) {
            const Uses uses = uses_of(statements);
            if (!touches_stored(uses)) return;
            for (const auto& [var, array] : arrays_)
                result = result && !(uses.written.contains(var) && is_integer(var->type.scalar));
        });
        for_each_expr(body, [&](const Expr& e) {
            const bool made_whole = e.op == Op::kConvert && e.type.is_scalar() &&
                                    is_integer(e.type.scalar) &&
                                    !is_integer(e.operands[0]->type.scalar);
            result = result && !made_whole;
        });
        return result;
    }

    // `in_loop`: the body of a sequential loop, which only loads arrays that are not stored to.
    Body side_by_side(const Body& body, const std::vector<Lane>& lanes, bool in_loop) {
        Body out, stretch;
        const auto end = [&] {
            if (!stretch.empty()) out.push_back(copies(std::move(stretch), lanes, in_loop));
            stretch.clear();
        };
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop == nullptr) {
                stretch.push_back(stmt);
                continue;
            }
            end();
            loop->body = side_by_side(loop->body, lanes, true);
            out.push_back(loop);
        }
        end();
        return out;
    }

    // Makes `for i_copy in range(4) [unroll]: i = …;  for j_copy in range(2) [unroll]: j = …;
    // body`.
    Stmt* copies(Body body, const std::vector<Lane>& lanes, bool in_loop) {
        builder_.span = body.front()->span;
        std::vector<Var*> counters;
        for (const Lane& lane : lanes)
            counters.push_back(
                builder_.scalar(lane.loop->var->name + "_copy", lane.loop->var->type.scalar));
        const bool repeats = repeats_ && (in_loop || !touches_stored(uses_of(body)));
        use_arrays(body, counters);
        Stmt* result = nullptr;
        for (std::size_t i = lanes.size(); i-- > 0;) {
            const Lane& lane = lanes[i];
            builder_.span = lane.loop->span;
            const Scalar type = lane.loop->var->type.scalar;
            const bool used = uses_of(body).read.contains(lane.loop->var);
            Var* index = builder_.scalar(lane.loop->var->name, type);
            rename(body, lane.loop->var, index);
            Expr* number = builder_.binary(Op::kAdd, builder_.var(lane.first),
                                           builder_.binary(Op::kMul, builder_.var(counters[i]),
                                                           builder_.integer(lane.distance, type)));
            if (!lane.exact() && repeats)
                number = builder_.binary(Op::kMin, number, builder_.integer(lane.trips - 1, type));
            const bool scaled = constant_integer(lane.loop->step) != 1;
            const bool moved = constant_integer(lane.loop->begin) != 0;
            if (!lane.exact() && !repeats) {
                const bool at_hand = used && !scaled && !moved;
                Expr* inside =
                    builder_.binary(Op::kLt, at_hand ? builder_.var(index) : clone(module_, number),
                                    builder_.integer(lane.trips, type));
                body = {builder_.if_(inside, std::move(body))};
            }
            if (used) {
                Expr* value = number;
                if (scaled)
                    value = builder_.binary(Op::kMul, value, clone(module_, lane.loop->step));
                if (moved)
                    value = builder_.binary(Op::kAdd, clone(module_, lane.loop->begin), value);
                body.insert(body.begin(), builder_.assign(index, value));
            }
            For* loop = builder_.loop(counters[i], builder_.integer(0, type),
                                      builder_.integer(lane.copies, type), std::move(body));
            loop->mapping.unroll = true;
            result = loop;
            body = {loop};
        }
        return result;
    }

    // Replaces scalars that have an array of copies by its elements.
    void use_arrays(Body& body, const std::vector<Var*>& counters) {
        const auto array_of = [&](const Var* var) -> Var* {
            const auto found = std::ranges::find_if(
                arrays_, [&](const auto& entry) { return entry.first == var; });
            return found != arrays_.end() ? found->second : nullptr;
        };
        const auto place = [&] {
            std::vector<Expr*> indices;
            for (Var* counter : counters)
                indices.push_back(builder_.var(counter));
            return indices;
        };
        rewrite(body, [&](Expr* e) {
            Var* array = e->op == Op::kVar ? array_of(e->var) : nullptr;
            return array != nullptr ? builder_.load(array, place()) : e;
        });
        rewrite_stmts(body, [&](Stmt* stmt, Body& out) {
            const auto* assign = stmt->as<Assign>();
            Var* array = assign != nullptr ? array_of(assign->var) : nullptr;
            if (array == nullptr) {
                out.push_back(stmt);
                return;
            }
            builder_.span = stmt->span;
            out.push_back(assign->update
                              ? builder_.update(array, place(), *assign->update, assign->value)
                              : builder_.store(array, place(), assign->value));
        });
    }

    static void rename(Body& body, const Var* from, Var* to) {
        for_each_expr(body, [&](Expr& e) { e.var = e.var == from ? to : e.var; });
    }

    Builder builder_;
    Module& module_;
    Function& kernel_;
    const KernelShape shape_;
    VarSet stored_;                              // in the nest that is being jammed
    bool repeats_ = true;                        // harmless() of that nest
    std::vector<std::pair<Var*, Var*>> arrays_;  // scalars, and the arrays of their copies
};

}  // namespace

void jam_loops(PassContext& context) {
    for_each_stmt(context.module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) KernelJams(context.module, *launch->kernel).run();
    });
}

}  // namespace parpy
