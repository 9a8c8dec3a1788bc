// See factor_reductions.h.
#include "passes/nests/factor_reductions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/jams.h"
#include "analysis/memory/sharing.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/contraction_tile.h"
#include "mapping/plan.h"
#include "passes/mapped/partial_values.h"
#include "passes/nests/own_arrays.h"
#include "support/architecture.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.9;  // of the time before
// Of the time of tiles: the planner's estimate of loops omits what keeps them from the peak.
constexpr double kWorthwhileOverTiles = 0.5;
// The bytes that the threads of all parts load at a time: twice those that saturate memory.
constexpr std::int64_t kBytesWanted = 1 << 20;
constexpr std::int64_t kFewestColumns = kWarpSize;
constexpr std::int64_t kFewestInPart = 16;  // iterations that become one partial value
constexpr std::size_t kMostKept = 4;        // scalars that statements before the sums pass on

// A loop whose iterations are independent.
struct Outer {
    For* loop = nullptr;
    std::int64_t first = 0, trips = 0;
};

// The parts of an iteration of the innermost of the outer loops.
struct Parts {
    std::vector<Outer> outer;  // each is all that the one before it contains; the last: the columns
    For* steps = nullptr;
    Body before, behind;
    std::vector<UpdateGroup> groups;     // the reductions of the steps
    std::int64_t parts = 0, length = 0;  // that the steps are cut into; iterations of each

    [[nodiscard]] For* columns() const { return outer.back().loop; }
    // The threads of a part, which may each run several iterations of the loop around the columns.
    [[nodiscard]] std::int64_t threads() const {
        std::int64_t product = outer.back().trips;
        for (std::size_t i = 0; i + 1 < outer.size(); ++i) {
            const bool jams = i + 2 == outer.size();
            product *= jams ? (outer[i].trips + kMostJammed - 1) / kMostJammed : outer[i].trips;
        }
        return product;
    }
};

// Copies of the outer loops.
struct Copies {
    For* outermost = nullptr;
    For* columns = nullptr;
    std::vector<Var*> vars;  // of the loops, from the outermost on
};

class Factoring {
public:
    explicit Factoring(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic),
          shared_bytes_(shared_bytes_of_block(context.options.cuda_arch)) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop != nullptr && loops().legal(*loop)) {
                while (const std::size_t more = factor(stmts, i))
                    i += more;  // statements that finish the sums may precede others
            } else {
                for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
            }
        }
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr) loops_ = std::make_unique<ParallelLoops>(entry_, deterministic_);
        return *loops_;
    }

    // The distance behind `place` of the nest that finishes the sums; 0: nothing has changed.
    std::size_t factor(Body& stmts, std::size_t place) {
        std::optional<Parts> parts = parts_of(*stmts[place]->as<For>());
        if (!parts) return 0;
        std::optional<Body> made = factored(*parts);
        if (!made) return 0;
        const std::optional<double> contracted = as_contraction(*stmts[place]);
        loops_ = nullptr;
        const double factor = contracted ? kWorthwhileOverTiles : kWorthwhile;
        if (!replace_if_faster(stmts, place, *made, factor, entry_, deterministic_, plan_cuda,
                               contracted)) {
            return 0;
        }
        const auto nests = std::ranges::count_if(
            *made, [](const Stmt* stmt) { return stmt->kind != StmtKind::kAlloc; });
        const std::size_t first = hoist_allocations(entry_, stmts, place);
        const bool joined = nests == 2 && join_producer(stmts, first, *parts);
        return first - place + static_cast<std::size_t>(nests) - (joined ? 2 : 1);
    }

    // ------------------------------------------------------------ producers

    // Moves the nest in front of the partial sums into them if it makes the elements that they read
    // (A[i, j] = …, then total += A[i, j]), so that these are loaded once. False: nothing changed.
    bool join_producer(Body& stmts, std::size_t place, const Parts& parts) {
        auto* producer = place > 0 ? stmts[place - 1]->as<For>() : nullptr;
        if (producer == nullptr || producer->body.size() != 1 || parts.outer.size() != 1)
            return false;
        auto* inner = producer->body[0]->as<For>();
        loops_ = nullptr;
        if (inner == nullptr || contains_loop(inner->body) || !is_plain(*producer) ||
            !is_plain(*inner)) {
            return false;
        }
        auto* sums = stmts[place]->as<For>();
        auto* columns = sums->body[0]->as<For>();
        const auto own = std::ranges::find(columns->body, StmtKind::kFor, &Stmt::kind);
        auto* steps = (*own)->as<For>();
        for (For* rows : {producer, inner}) {
            For* across = rows == producer ? inner : producer;
            if (!alike(*rows, *parts.steps) || !alike(*across, *parts.columns())) continue;
            Substitution renamed;
            renamed.vars[rows->var] = steps->var;
            renamed.vars[across->var] = columns->var;
            const Body makes = clone(module_, inner->body, renamed);
            if (!meet_in_elements(makes, *sums, {steps->var, columns->var})) continue;
            const double before = plan_cuda(loops()).nanoseconds;
            const Body nests = stmts, alone = steps->body;
            steps->body.insert(steps->body.begin(), makes.begin(), makes.end());
            stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place) - 1);
            loops_ = nullptr;
            if (plan_cuda(loops()).nanoseconds < before) return true;
            steps->body = alone;
            stmts = nests;
            loops_ = nullptr;
        }
        return false;
    }

    // Whether both run over the same constant range, forwards.
    static bool alike(const For& a, const For& b) {
        const auto first = constant_integer(a.begin), trips = constant_trip_count(a);
        return first && trips && first == constant_integer(b.begin) &&
               trips == constant_trip_count(b) && constant_integer(b.step) == 1 &&
               a.var->type == b.var->type;
    }

    // Whether the sums read what the statements store only where they store it, and share nothing
    // else with them but the variables of the loops.
    static bool meet_in_elements(const Body& makes, const For& sums,
                                 const std::vector<const Var*>& vars) {
        const Uses made = uses_of(makes), taken = uses_of(static_cast<const Stmt&>(sums));
        const auto is_used = [&](const Var* var) {
            return made.written.contains(var) || made.read.contains(var);
        };
        if (std::ranges::any_of(taken.stored, [&](const Var* a) { return made.may_touch(*a); }) ||
            std::ranges::any_of(made.written, [&](const Var* v) { return taken.read.contains(v); }))
            return false;
        for (const Var* var : taken.written) {
            if (std::ranges::find(vars, var) == vars.end() && is_used(var)) return false;
        }
        bool meets = true;
        for_each_expr(static_cast<const Stmt&>(sums), [&](const Expr& e) {
            const bool array = e.op == Op::kLoad || e.op == Op::kArray || e.op == Op::kAtomic;
            if (!array || !made.may_store(*e.var)) return;
            for_each_stmt(makes, [&](const Stmt& stmt) {
                const auto* store = stmt.as<Store>();
                if (store == nullptr || !may_share(*store->array, *e.var)) return;
                meets = meets && e.op == Op::kLoad && store->array == e.var &&
                        same(store->indices, e.operands);
            });
        });
        return meets;
    }

    // Nanoseconds of the nest as a contraction; nothing if it stays loops.
    std::optional<double> as_contraction(const Stmt& nest) {
        for (const Contraction& c : find_contractions(module_, loops().judge(), deterministic_,
                                                      /*batches=*/true)
                                        .found) {
            std::string reason;
            if (c.top != &nest) continue;
            const auto tile =
                plan_kernel_tile(c, sizes_of(c, loops().traffic()), shared_bytes_, reason);
            if (tile) return kLaunchTime + tile->nanoseconds;
        }
        return std::nullopt;
    }

    // ------------------------------------------------------------ conditions

    std::optional<Parts> parts_of(For& outermost) {
        Parts parts;
        for (For* loop = &outermost; loop != nullptr;) {
            const auto trips = constant_trip_count(*loop);
            const auto first = constant_integer(loop->begin);
            if (!trips || !first || !is_plain(*loop)) return std::nullopt;
            parts.outer.push_back({loop, *first, *trips});
            auto* next = loop->body.size() == 1 ? loop->body[0]->as<For>() : nullptr;
            loop =
                next != nullptr && loops().legal(*next) && !loops().reduces(*next) ? next : nullptr;
        }
        if (parts.outer.back().trips < kFewestColumns) return std::nullopt;
        for (Stmt* stmt : parts.columns()->body) {
            if (leaves_loop(*stmt)) return std::nullopt;
            auto* loop = stmt->as<For>();
            if (parts.steps == nullptr && loop != nullptr && !finished_.contains(loop) &&
                takes_steps(parts, *loop)) {
                parts.steps = loop;
            } else {
                (parts.steps == nullptr ? parts.before : parts.behind).push_back(stmt);
            }
        }
        if (parts.steps == nullptr) return std::nullopt;
        return parts;
    }

    // Whether iterations of the loop are independent and only compute.
    bool is_plain(For& loop) {
        if (loop.body.empty() || pragma_of(loop).asks_for_more() || loops().reduces(loop))
            return false;
        const LoopFacts& facts = loops().facts(loop);
        return facts.verdict == Verdict::kProved && constant_integer(loop.step) == 1 &&
               facts.conditions.empty() && facts.carried_scalars.empty() &&
               facts.last_values.empty() && only_computes(loop.body);
    }

    // Whether `steps` reduces elements that threads of neighbouring columns load side by side.
    bool takes_steps(Parts& parts, For& steps) {
        const auto trips = constant_trip_count(steps);
        const auto step = constant_integer(steps.step);
        if (!trips || !step || *step < 1 || pragma_of(steps).asks_for_more() ||
            !loops().reduces(steps)) {
            return false;
        }
        if (!constant_integer(steps.begin) || !only_computes(steps.body) ||
            uses_of(steps.body).calls || !uses_of(steps.body).allocated.empty()) {
            return false;
        }
        const std::int64_t bytes = parts.threads() * side_by_side(*parts.columns(), steps);
        if (bytes == 0 || bytes >= kBytesWanted / 2) return false;
        parts.parts = std::min((kBytesWanted + bytes - 1) / bytes, *trips / kFewestInPart);
        if (parts.parts < 2) return false;
        parts.length = (*trips + parts.parts - 1) / parts.parts;
        parts.parts = (*trips + parts.length - 1) / parts.length;
        const LoopFacts& facts = loops().facts(steps);
        if (!facts.conditions.empty() || facts.scatters) return false;
        parts.groups = facts.reductions;
        return reduces_alone(parts, steps, facts);
    }

    // The size of the elements of which those of neighbouring columns are adjacent, and those of
    // neighbouring steps are not; 0 if there are none.
    std::int64_t side_by_side(const For& columns, const For& steps) {
        const Accesses& accesses = loops().accesses();
        const int column = accesses.loop_of(&columns), step = accesses.loop_of(&steps);
        if (column < 0 || step < 0) return 0;
        const Traffic traffic = loops().traffic();
        std::int64_t least = 0;
        for (const Access& access : accesses.all()) {
            if (!accesses.inside(access.loop, step)) continue;
            const std::int64_t size = size_in_bytes(access.array->type.scalar);
            const auto across = traffic.stride(access, column),
                       along = traffic.stride(access, step);
            if (across && std::abs(*across) == size && along && std::abs(*along) > size)
                least = least == 0 ? size : std::min(least, size);
        }
        return least;
    }

    // Whether the steps only update their targets, each in its own type.
    static bool reduces_alone(const Parts& parts, const For& steps, const LoopFacts& facts) {
        VarSet scalars, arrays;
        for (const UpdateGroup& group : parts.groups) {
            for (const Update& update : group.updates) {
                if (update.value->type != Type::of(update.var->type.scalar)) return false;
                (update.indices == nullptr ? scalars : arrays).insert(update.var);
            }
        }
        const Uses uses = uses_of(steps.body);
        const auto is_own = [&](const Var* var) {
            const auto& own = facts.private_scalars;
            return scalars.contains(var) || std::ranges::find(own, var) != own.end();
        };
        return !parts.groups.empty() && std::ranges::all_of(uses.written, is_own) &&
               std::ranges::all_of(uses.stored, [&](Var* a) { return arrays.contains(a); });
    }

    // ------------------------------------------------------------ nests

    // Memory, statements before the sums if the sums need them, partial values, the rest.
    std::optional<Body> factored(const Parts& parts) {
        const Uses before = uses_of(parts.before);
        const VarSet needed = exposed_reads({parts.steps});
        bool apart = std::ranges::any_of(uses_of(*parts.steps).loaded, [&](const Var* array) {
            return before.may_store(*array) && !is_target(parts, array);
        });
        for (const Var* var : needed)
            apart = apart || (before.written.contains(var) && !is_target(parts, var));
        Body allocs, nests;
        std::vector<std::pair<Var*, Var*>> kept;  // scalars that cross, and where they are kept
        Body constants;
        if (apart) {
            Body rest = {parts.steps};
            rest.insert(rest.end(), parts.behind.begin(), parts.behind.end());
            Body first;
            for (Stmt* stmt : parts.before)
                (is_constant(*stmt, parts.before) ? constants : first).push_back(stmt);
            const Uses written = uses_of(first);
            for (Var* var : exposed_reads(rest)) {
                if (!written.written.contains(var)) continue;
                if (kept.size() == kMostKept) return std::nullopt;
                kept.emplace_back(var,
                                  array(var->name + "_kept", var->type.scalar, extents(parts)));
            }
            const Copies copies = columns_of(parts, "_first", first);
            Builder b(module_, copies.columns->span);
            for (const auto& [var, memory] : kept) {
                allocs.push_back(b.alloc(memory));
                copies.columns->body.push_back(
                    b.store(memory, place(parts, copies.vars), b.var(var)));
            }
            nests.push_back(copies.outermost);
        }
        std::vector<Var*> partials;
        for (const UpdateGroup& group : parts.groups) {
            const Var& target = *group.updates.front().var;
            std::vector<std::int64_t> sizes = extents(parts);
            sizes.insert(sizes.begin(), parts.parts);
            partials.push_back(array(target.name + "_partials", target.type.scalar, sizes));
            allocs.push_back(Builder(module_, parts.steps->span).alloc(partials.back()));
        }
        nests.push_back(partial_values(parts, kept, constants, partials));
        nests.push_back(finished(parts, apart, kept, constants, partials));
        allocs.insert(allocs.end(), nests.begin(), nests.end());
        return allocs;
    }

    // Whether the steps reduce the scalar, or an element of the array.
    static bool is_target(const Parts& parts, const Var* var) {
        return std::ranges::any_of(parts.groups, [&](const UpdateGroup& group) {
            return group.updates.front().var == var;
        });
    }

    // Whether it is like `total = 0.0`, which may be repeated wherever it is needed.
    static bool is_constant(const Stmt& stmt, const Body& all) {
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr || assign->update || assign->value->op != Op::kConst) return false;
        Body others;
        std::ranges::copy_if(all, std::back_inserter(others),
                             [&](const Stmt* other) { return other != &stmt; });
        const Uses uses = uses_of(others);
        return !uses.read.contains(assign->var) && !uses.written.contains(assign->var);
    }

    Var* array(std::string name, Scalar type, const std::vector<std::int64_t>& extents) {
        return Builder(module_).local_array(std::move(name), type, extents, Space::kScratch);
    }

    static std::vector<std::int64_t> extents(const Parts& parts) {
        std::vector<std::int64_t> result;
        for (const Outer& outer : parts.outer)
            result.push_back(outer.trips);
        return result;
    }

    // Makes copies of the outer loops, around copies of `stmts`.
    Copies columns_of(const Parts& parts, const char* suffix, const Body& stmts) {
        Copies copies;
        Substitution own;
        for (const Outer& outer : parts.outer) {
            const Var& var = *outer.loop->var;
            copies.vars.push_back(own.vars[&var] =
                                      b_of(*outer.loop).scalar(var.name + suffix, var.type.scalar));
        }
        Body body = clone(module_, stmts, own);
        for (std::size_t i = parts.outer.size(); i-- > 0;) {
            const For& loop = *parts.outer[i].loop;
            copies.outermost = b_of(loop).loop(copies.vars[i], clone(module_, loop.begin),
                                               clone(module_, loop.end), std::move(body));
            if (copies.columns == nullptr) copies.columns = copies.outermost;
            body = {copies.outermost};
        }
        return copies;
    }

    Builder b_of(const For& loop) { return Builder(module_, loop.span); }

    // The numbers of the iterations of the outer loops, from 0 on, if these are their variables.
    std::vector<Expr*> place(const Parts& parts, const std::vector<Var*>& vars) {
        std::vector<Expr*> result;
        for (std::size_t i = 0; i < vars.size(); ++i) {
            Builder b = b_of(*parts.outer[i].loop);
            Expr* value = b.convert(b.var(vars[i]), Scalar::kI64);
            const std::int64_t first = parts.outer[i].first;
            result.push_back(first == 0 ? value : b.binary(Op::kSub, value, b.integer(first)));
        }
        return result;
    }

    // for j_part …: for i_part …: passed scalars; partial = identity; the steps of the part; store
    For* partial_values(const Parts& parts, const std::vector<std::pair<Var*, Var*>>& kept,
                        const Body& constants, const std::vector<Var*>& partials) {
        For& steps = *parts.steps;
        Builder b(module_, steps.span);
        Var* part = b.scalar(steps.var->name + "_part", Scalar::kI64);
        Body stmts;
        std::ranges::copy_if(constants, std::back_inserter(stmts), [&](const Stmt* stmt) {
            return !is_target(parts, stmt->as<Assign>()->var);
        });
        stmts.push_back(&steps);
        const Copies copies = columns_of(parts, "_part", stmts);
        For* columns = copies.columns;
        For* own = columns->body.back()->as<For>();
        columns->body.pop_back();
        take_kept(parts, kept, copies.vars, columns->body);
        cut(parts, *own, part);
        Body stores;
        for (std::size_t g = 0; g < parts.groups.size(); ++g) {
            const UpdateGroup& group = parts.groups[g];
            const Update& first = group.updates.front();
            const Scalar type = first.var->type.scalar;
            Var* partial = b.scalar(first.var->name + "_partial", type);
            for (const Update& update : find_updates(own->body)) {
                if (!same_target(update, first, parts, copies.vars)) continue;
                const Stmt* whole = spelled_as_update(module_, update);
                const auto* assign = whole->as<Assign>();
                const Op op = assign != nullptr ? *assign->update : *whole->as<Store>()->update;
                Expr* value = assign != nullptr ? assign->value : whole->as<Store>()->value;
                *update.slot = b.update(partial, op, value);
            }
            columns->body.push_back(b.assign(partial, identity(b, combining(group.op), type)));
            std::vector<Expr*> at = place(parts, copies.vars);
            at.insert(at.begin(), b.var(part));
            stores.push_back(b.store(partials[g], std::move(at), b.var(partial)));
        }
        columns->body.push_back(own);
        columns->body.insert(columns->body.end(), stores.begin(), stores.end());
        return b.loop(part, b.integer(0), b.integer(parts.parts), {copies.outermost});
    }

    void take_kept(const Parts& parts, const std::vector<std::pair<Var*, Var*>>& kept,
                   const std::vector<Var*>& vars, Body& out) {
        Builder b = b_of(*parts.columns());
        for (const auto& [var, memory] : kept)
            out.push_back(b.assign(var, b.load(memory, place(parts, vars))));
    }

    // Restricts the steps to those of the part.
    void cut(const Parts& parts, For& steps, Var* part) {
        Builder b(module_, steps.span);
        const Scalar type = steps.var->type.scalar;
        const std::int64_t step = *constant_integer(steps.step);
        const std::int64_t begin = *constant_integer(steps.begin);
        const std::int64_t end = begin + *constant_trip_count(*parts.steps) * step;
        const auto at = [&](std::int64_t more) {
            Expr* value = b.binary(Op::kMul, b.var(part), b.integer(parts.length * step));
            return more == 0 ? value : b.binary(Op::kAdd, value, b.integer(more));
        };
        Expr* last = at(begin + parts.length * step);
        if (*constant_trip_count(*parts.steps) % parts.length != 0)
            last = b.binary(Op::kMin, last, b.integer(end));
        steps.begin = b.convert(at(begin), type);
        steps.end = b.convert(last, type);
        steps.labels.clear();
    }

    // Whether both update one element, the original and its copy, in which the variables of the
    // outer loops are renamed.
    bool same_target(const Update& copy, const Update& original, const Parts& parts,
                     const std::vector<Var*>& renamed) {
        if (copy.var != original.var) return false;
        if (original.indices == nullptr || copy.indices == nullptr)
            return original.indices == copy.indices;
        Substitution own;
        for (std::size_t i = 0; i < renamed.size(); ++i)
            own.vars[parts.outer[i].loop->var] = renamed[i];
        std::vector<Expr*> wanted;
        for (const Expr* index : *original.indices)
            wanted.push_back(clone(module_, index, own));
        return same(*copy.indices, wanted);
    }

    // Makes the nest that adds up the partial values.
    For* finished(const Parts& parts, bool apart, const std::vector<std::pair<Var*, Var*>>& kept,
                  const Body& constants, const std::vector<Var*>& partials) {
        For& steps = *parts.steps;
        Builder b(module_, steps.span);
        auto* outermost =
            clone(module_, static_cast<const Stmt*>(parts.outer.front().loop))->as<For>();
        For* columns = outermost;
        std::vector<Var*> vars = {outermost->var};
        while (vars.size() < parts.outer.size()) {
            columns = columns->body[0]->as<For>();
            vars.push_back(columns->var);
        }
        columns->body.clear();
        if (apart) {
            take_kept(parts, kept, vars, columns->body);
            const Body copies = clone(module_, constants, {});
            columns->body.insert(columns->body.end(), copies.begin(), copies.end());
        } else {
            const Body copies = clone(module_, parts.before, {});
            columns->body.insert(columns->body.end(), copies.begin(), copies.end());
        }
        Var* part = b.scalar(steps.var->name + "_part", Scalar::kI64);
        For* loop = b.loop(part, b.integer(0), b.integer(parts.parts));
        for (std::size_t g = 0; g < parts.groups.size(); ++g) {
            const Update& first = parts.groups[g].updates.front();
            const Op op = combining(parts.groups[g].op);
            std::vector<Expr*> at = place(parts, vars);
            at.insert(at.begin(), b.var(part));
            Expr* value = b.load(partials[g], std::move(at));
            if (first.indices == nullptr) {
                loop->body.push_back(b.update(first.var, op, value));
                continue;
            }
            std::vector<Expr*> indices;
            for (const Expr* index : *first.indices)
                indices.push_back(clone(module_, index));
            loop->body.push_back(b.update(first.var, std::move(indices), op, value));
        }
        finished_.insert(loop);
        columns->body.push_back(loop);
        const Body rest = clone(module_, parts.behind, {});
        columns->body.insert(columns->body.end(), rest.begin(), rest.end());
        return outermost;
    }

    Module& module_;
    Function& entry_;
    const bool deterministic_;
    const std::int64_t shared_bytes_;          // that a block may have
    std::unordered_set<const For*> finished_;  // loops over partial values
    std::unique_ptr<ParallelLoops> loops_;     // of the function as it is now
};

}  // namespace

void factor_reductions(PassContext& context) {
    Factoring(context).run();
}

}  // namespace parpy
