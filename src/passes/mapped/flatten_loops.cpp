// See flatten_loops.h.
#include "passes/mapped/flatten_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kThreads = kMultiprocessors * kResidentThreads;
constexpr std::int64_t kThreadsPerBlock = 256;

struct FlatNest {
    std::vector<For*> loops;  // from the outermost one on
    Body invariants;          // statements between them that are the same for all iterations
    bool in_block = false;    // one block runs the nest
};

bool is_mapped(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    return loop != nullptr && loop->mapping.parallel();
}

class Flattener {
public:
    explicit Flattener(PassContext& context)
        : module_(context.module), entry_(*context.module.entry_function()), liveness_(entry_) {
        for_each_stmt(entry_.body, [&](const Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) {
                const auto [found, first] = definitions_.emplace(assign->var, assign);
                if (!first) found->second = nullptr;
            }
        });
    }

    // Calls found(statements, place, nest) for each nest to flatten.
    template <class F>
    void each(F&& found) {
        host(entry_.body, {}, found);
    }

    // The statements that replace the nest.
    Body flattened(const FlatNest& nest) {
        Builder b(module_, nest.loops.front()->span);
        Body out = nest.invariants;
        std::vector<Expr*> trips;
        Expr* product = b.integer(1);
        std::string name;
        for (const For* loop : nest.loops) {
            trips.push_back(trips_of(*loop, out));
            product = b.binary(Op::kMul, product, clone(module_, trips.back()));
            name += (name.empty() ? "" : "_") + loop->var->name;
        }
        Var* flat = b.scalar(name, Scalar::kI64);
        Var* rest = b.scalar(name + "_rest", Scalar::kI64);
        Body body = {b.assign(rest, b.var(flat))};
        for (std::size_t i = nest.loops.size(); i-- > 0;) {
            const For& loop = *nest.loops[i];
            const auto part = [&](Op op) {
                return b.binary(op, b.var(rest), clone(module_, trips[i]));
            };
            Expr* number = i == 0 ? b.var(rest) : part(Op::kRemainder);
            Expr* value = b.convert(number, loop.var->type.scalar);
            if (constant_integer(loop.begin) != 0)
                value = b.binary(Op::kAdd, clone(module_, loop.begin), value);
            body.push_back(b.assign(loop.var, value));
            if (i > 0) body.push_back(b.assign(rest, part(Op::kQuotient)));
        }
        for (const For* loop : nest.loops) {
            for (Stmt* stmt : loop->body) {
                const bool inner = loop != nest.loops.back() && stmt == loop->body.back();
                if (!inner && std::ranges::find(nest.invariants, stmt) == nest.invariants.end())
                    body.push_back(stmt);
            }
        }
        For* made = b.loop(flat, b.integer(0), product, std::move(body));
        made->labels = nest.loops.front()->labels;
        if (nest.in_block) {
            map_to_threads(made->mapping, kMaxThreadsPerBlock, kMaxThreadsPerBlock);
        } else {
            map_to_threads(made->mapping, kThreads, kThreadsPerBlock);
        }
        out.push_back(made);
        return out;
    }

private:
    // The number of iterations, which the host computes in `out`.
    Expr* trips_of(const For& loop, Body& out) {
        Builder b(module_, loop.span);
        if (const auto trips = constant_trip_count(loop)) return b.integer(*trips);
        const auto wide = [&](const Expr* bound) {
            return b.convert(clone(module_, bound), Scalar::kI64);
        };
        Var* trips = b.scalar(loop.var->name + "_trips", Scalar::kI64);
        Expr* distance = b.binary(Op::kSub, wide(loop.end), wide(loop.begin));
        out.push_back(b.assign(trips, b.binary(Op::kMax, distance, b.integer(0))));
        return b.var(trips);
    }

    // `changing`: scalars that loops of the host around the statements assign.
    template <class F>
    void host(Body& stmts, const VarSet& changing, F&& found) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            Stmt& stmt = *stmts[i];
            auto* loop = stmt.as<For>();
            if (auto* gpu = stmt.as<Gpu>()) {
                block(gpu->body, found);
                continue;
            }
            if (loop != nullptr && loop->mapping.parallel()) {
                const auto nest = nest_of(*loop);
                if (nest && varies(*nest, changing)) found(stmts, i, *nest);
                continue;
            }
            VarSet inside = changing;
            if (loop != nullptr || stmt.kind == StmtKind::kWhile) {
                for (Var* var : uses_of(stmt).written)
                    inside.insert(var);
            }
            for_each_body(stmt, [&](Body& inner) { host(inner, inside, found); });
        }
    }

    // Nests in a block: its threads are on one level.
    template <class F>
    void block(Body& stmts, F&& found) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop == nullptr || !loop->mapping.parallel()) {
                for_each_body(*stmts[i], [&](Body& inner) { block(inner, found); });
            } else if (auto nest = nest_of(*loop)) {
                nest->in_block = true;
                found(stmts, i, *nest);
            } else if (any_stmt(loop->body, is_mapped)) {
                loop->mapping = {};
                block(loop->body, found);
            }
        }
    }

    std::optional<FlatNest> nest_of(For& root) {
        const Uses uses = uses_of(root);
        const VarSet& live = liveness_.after(&root);
        const auto is_live = [&](const Var* var) { return live.contains(var); };
        if (uses.calls || std::ranges::any_of(uses.written, is_live)) return std::nullopt;
        FlatNest nest;
        VarSet changed = uses.written;
        for (For* loop = &root; loop != nullptr;) {
            const LoopMapping& mapping = loop->mapping;
            // The host computes the bounds of the outermost loop in any case.
            const bool any = loop == &root && uses_of(*loop->begin).loaded.empty() &&
                             uses_of(*loop->end).loaded.empty();
            if (mapping.reduce || !mapping.reductions.empty() || loop->body.empty() ||
                constant_integer(loop->step) != 1 ||
                !(any || (on_host(*loop->begin, changed) && on_host(*loop->end, changed)))) {
                return std::nullopt;
            }
            nest.loops.push_back(loop);
            auto* inner = loop->body.back()->as<For>();
            if (inner == nullptr || !inner->mapping.parallel()) break;
            for (Stmt* stmt : loop->body) {
                if (stmt == inner) continue;
                const auto* assign = stmt->as<Assign>();
                if (assign == nullptr || assign->update || !once(*assign->var, root))
                    return std::nullopt;
                if (on_host(*assign->value, changed)) {
                    nest.invariants.push_back(stmt);
                    changed.erase(assign->var);
                } else if (!repeats(*assign, *inner, uses)) {
                    return std::nullopt;
                }
            }
            loop = inner;
        }
        const bool more = any_stmt(nest.loops.back()->body, [](const Stmt& stmt) {
            const auto* loop = stmt.as<For>();
            return stmt.kind == StmtKind::kAlloc || (loop != nullptr && loop->mapping.parallel());
        });
        if (nest.loops.size() < 2 || more || !only_computes(root.body)) return std::nullopt;
        return nest;
    }

    [[nodiscard]] bool varies(const FlatNest& nest, const VarSet& changing) const {
        return std::ranges::any_of(nest.loops, [&](const For* loop) {
            return varies_freely(*loop->begin, changing) || varies_freely(*loop->end, changing);
        });
    }

    // Whether the bound changes from step to step of a loop around by more than a constant number.
    [[nodiscard]] bool varies_freely(const Expr& bound, const VarSet& changing) const {
        const auto reads_any = [&](const Expr& e) {
            return std::ranges::any_of(uses_of(e).read,
                                       [&](const Var* var) { return changing.contains(var); });
        };
        const auto inner = [&](const Expr* e) { return varies_freely(*e, changing); };
        if (!reads_any(bound)) return false;
        switch (bound.op) {
            case Op::kVar: {
                const auto found = definitions_.find(bound.var);
                if (found == definitions_.end()) return false;  // the variable of a loop
                return found->second == nullptr || found->second->update ||
                       inner(found->second->value);
            }
            case Op::kAdd:
            case Op::kSub:
            case Op::kNeg:
            case Op::kMin:
            case Op::kMax:
            case Op::kConvert:
                return std::ranges::any_of(bound.operands, inner);
            case Op::kSelect:
                return inner(bound.operands[1]) || inner(bound.operands[2]);
            case Op::kMul:
                return std::ranges::all_of(bound.operands,
                                           [&](const Expr* e) { return reads_any(*e); }) ||
                       std::ranges::any_of(bound.operands, inner);
            default:
                return true;
        }
    }

    // Whether the host may compute the expression, also where no iteration needs it.
    static bool on_host(const Expr& expr, const VarSet& changed) {
        const Uses uses = uses_of(expr);
        const bool divides = any_expr(expr, [](const Expr& e) {
            const bool division = e.op == Op::kFloorDiv || e.op == Op::kMod ||
                                  e.op == Op::kQuotient || e.op == Op::kRemainder;
            return division && !constant_integer(e.operands[1]);
        });
        return !uses.calls && !divides && uses.loaded.empty() &&
               std::ranges::none_of(uses.read,
                                    [&](const Var* var) { return changed.contains(var); });
    }

    // Whether a single statement assigns the variable.
    static bool once(const Var& var, const For& root) {
        std::size_t writes = 0;
        for_each_stmt(root.body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            const auto* loop = stmt.as<For>();
            writes += (assign != nullptr && assign->var == &var) ||
                      (loop != nullptr && loop->var == &var);
        });
        return writes == 1;
    }

    // Whether the iterations of `inner` may each repeat the statement before it.
    static bool repeats(const Assign& assign, const For& inner, const Uses& all) {
        const Uses value = uses_of(*assign.value);
        VarSet later = uses_of(inner).written;
        later.insert(inner.var);
        later.insert(assign.var);
        return !value.calls && std::ranges::none_of(value.read, [&](const Var* var) {
            return later.contains(var);
        }) && std::ranges::none_of(value.loaded, [&](const Var* array) {
            return all.may_store(*array);
        });
    }

    Module& module_;
    Function& entry_;
    const Liveness liveness_;
    std::unordered_map<const Var*, const Assign*> definitions_;  // null: several
};

}  // namespace

void flatten_loops(PassContext& context) {
    Flattener flattener(context);
    flattener.each([&](Body& stmts, std::size_t& place, const FlatNest& nest) {
        const Body code = flattener.flattened(nest);
        const auto at = stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
        stmts.insert(at, code.begin(), code.end());
        place += code.size() - 1;
    });
}

std::vector<FlatNote> flat_notes(PassContext& context) {
    std::vector<FlatNote> notes;
    Flattener(context).each([&](Body&, std::size_t&, const FlatNest& nest) {
        std::string names;
        for (const For* loop : nest.loops)
            names += (names.empty() ? "'" : ", '") + loop->var->shown() + "'";
        const std::string all = "the iterations of " + names + " are counted together";
        notes.push_back({nest.loops.front(),
                         all + (nest.in_block ? " and spread over the threads of a block"
                                              : " and spread over threads: their numbers change "
                                                "while the function runs")});
    });
    return notes;
}

}  // namespace parpy
