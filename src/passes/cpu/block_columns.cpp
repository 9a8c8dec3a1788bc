// See block_columns.h.
#include "passes/cpu/block_columns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/integers/index_math.h"
#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kLine = 64;            // bytes that memory moves at a time
constexpr double kWorthwhile = 0.5;     // of the bytes that were moved before
constexpr double kFewestColumns = 16;   // that a block pays for
constexpr double kFewestSteps = 16;     // whose lines do not stay close anyway
constexpr std::int64_t kColumns = 512;  // of a block: its values stay in the first cache
constexpr std::int64_t kFewestOfWorker = 128;
constexpr std::int64_t kBlocks = 16;  // that a few cores share evenly
constexpr std::size_t kMostKept = 6;  // scalars of an iteration that are wanted in a later part
constexpr std::int64_t kMostTogether = 8;   // steps that are taken at a time
constexpr std::int64_t kMostRepeated = 16;  // statements that are written out for them

// A part of what an iteration does: statements that stay as they are, or a loop that goes around
// the columns of a block.
struct Part {
    For* steps = nullptr;
    std::vector<Part> inside;  // of the loop
    Body stmts;
};

// The statements stand for the columns of a block at some place in the steps.
using Columns = std::vector<Part>;

class Blocking {
public:
    explicit Blocking(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (Stmt*& stmt : stmts) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr && walks_down(*loop)) {
                if (Stmt* blocks = blocked(*loop)) {
                    stmt = blocks;
                    loops_ = nullptr;
                    continue;
                }
            }
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
        }
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr) loops_ = std::make_unique<ParallelLoops>(entry_, deterministic_);
        return *loops_;
    }

    // ------------------------------------------------------------ what may be blocked

    // By the text alone: a loop in there has accesses that move with it and with this one.
    static bool walks_down(const For& columns) {
        if (!is_plain(columns) || !contains_loop(columns.body)) return false;
        return any_stmt(columns.body, [&](const Stmt& stmt) {
            const auto* steps = stmt.as<For>();
            if (steps == nullptr) return false;
            const auto moves = [&](const std::vector<Expr*>& indices) {
                return mentions(indices, *columns.var) && mentions(indices, *steps->var);
            };
            return any_expr(
                       steps->body,
                       [&](const Expr& e) { return e.op == Op::kLoad && moves(e.operands); }) ||
                   any_stmt(steps->body, [&](const Stmt& inner) {
                       const auto* store = inner.as<Store>();
                       return store != nullptr && moves(store->indices);
                   });
        });
    }

    static bool mentions(const std::vector<Expr*>& indices, const Var& var) {
        return std::ranges::any_of(indices, [&](const Expr* index) {
            return any_expr(*index, [&](const Expr& e) { return e.var == &var; });
        });
    }

    // What is known of it is in its bounds and body.
    static bool is_plain(const For& loop) {
        const LoopMapping& mapping = loop.mapping;
        return constant_integer(loop.step) == 1 && loop.cost == nullptr && !mapping.unroll &&
               !mapping.share && !loop.noted &&
               (mapping.level == Level::kSequential || mapping.level == Level::kWorkers);
    }

    Stmt* blocked(For& columns) {
        const Uses uses = uses_of(static_cast<const Stmt&>(columns));
        if (uses.calls || !uses.allocated.empty() || !only_computes(columns.body) ||
            std::ranges::any_of(columns.body, [](const Stmt* s) { return leaves_loop(*s); })) {
            return nullptr;
        }
        const Accesses& accesses = loops().accesses();
        if (accesses.loop_of(&columns) < 0) return nullptr;
        const auto trips = loops().traffic().known_trips(columns);
        if (trips && *trips < kFewestColumns) return nullptr;
        const Columns parts = parts_of(columns, columns.body, uses);
        if (std::ranges::none_of(parts, [](const Part& p) { return p.steps != nullptr; }))
            return nullptr;
        if (!loops().legal(columns)) return nullptr;
        const LoopFacts& facts = loops().facts(columns);
        const bool settled = facts.conditions.empty() || columns.mapping.level == Level::kWorkers;
        if (!settled || facts.scatters || !facts.carried_scalars.empty() ||
            !facts.last_values.empty() || !reduces_in_order(facts, parts)) {
            return nullptr;
        }
        return Blocks(*this, columns, parts, facts).run();
    }

    Columns parts_of(const For& columns, const Body& stmts, const Uses& uses) {
        Columns parts;
        for (Stmt* stmt : stmts) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr && goes_around(columns, *loop, uses)) {
                parts.push_back({loop, parts_of(columns, loop->body, uses), {}});
                continue;
            }
            if (parts.empty() || parts.back().steps != nullptr) parts.emplace_back();
            parts.back().stmts.push_back(stmt);
        }
        return parts;
    }

    // The steps of all columns are the same, and columns taken together move fewer bytes.
    bool goes_around(const For& columns, For& steps, const Uses& uses) {
        const auto step = constant_integer(steps.step);
        if (!step || *step < 1 || steps.mapping.level != Level::kSequential ||
            steps.mapping.unroll || steps.mapping.share || !invariant(*steps.begin, uses) ||
            !invariant(*steps.end, uses) ||
            std::ranges::any_of(steps.body, [](const Stmt* s) { return leaves_loop(*s); })) {
            return false;
        }
        const bool inside = std::ranges::any_of(outermost_loops(steps.body), [&](For* loop) {
            return std::ranges::find(steps.body, loop) != steps.body.end() &&
                   goes_around(columns, *loop, uses);
        });
        return inside || saves(columns, steps);
    }

    bool saves(const For& columns, const For& steps) {
        const Accesses& accesses = loops().accesses();
        const int across = accesses.loop_of(&columns), along = accesses.loop_of(&steps);
        if (along < 0) return false;
        const Traffic traffic = loops().traffic();
        const auto trips = traffic.known_trips(steps);
        if (trips && *trips < kFewestSteps) return false;
        double before = 0, after = 0;
        for (const Access& access : accesses.all()) {
            if (access.loop != along) continue;
            const auto moved = [&](int loop) {
                const auto stride = traffic.stride(access, loop);
                return std::min(stride ? std::abs(static_cast<double>(*stride)) : kLine, kLine);
            };
            before += moved(along);
            after += moved(across);
        }
        return after <= kWorthwhile * before;
    }

    // The scalars in which columns meet are updated by statements that stand in no steps, all of
    // them in one part: in the order of the columns, as before.
    static bool reduces_in_order(const LoopFacts& facts, const Columns& parts) {
        return std::ranges::all_of(facts.reductions, [&](const UpdateGroup& group) {
            const Var* target = group.updates.front().var;
            if (target->type.is_array()) return false;
            int touched = 0;
            for (const Part& part : parts) {
                const Uses uses = part.steps != nullptr
                                      ? uses_of(static_cast<const Stmt&>(*part.steps))
                                      : uses_of(part.stmts);
                if (!uses.read.contains(target) && !uses.written.contains(target)) continue;
                if (part.steps != nullptr) return false;
                ++touched;
            }
            return touched <= 1;
        });
    }

    // ------------------------------------------------------------ blocks

    class Blocks {
    public:
        Blocks(Blocking& pass, For& columns, const Columns& parts, const LoopFacts& facts)
            : pass_(pass),
              b_(pass.module_, columns.span),
              math_(b_, columns.var->type.scalar),
              columns_(columns),
              parts_(parts) {
            for (const UpdateGroup& group : facts.reductions)
                met_.insert(group.updates.front().var);
        }

        Stmt* run() {
            find_kept(parts_);
            if (kept_.size() > kMostKept) return nullptr;
            const Scalar type = columns_.var->type.scalar;
            width_ = width();
            for (Kept& kept : kept_) {
                kept.values = b_.local_array(kept.var->name + "_columns", kept.var->type.scalar,
                                             {width_}, Space::kLocal);
            }
            Var* block = b_.scalar("block", type);
            first_ = b_.scalar("first_column", type);
            end_ = b_.scalar("end_column", type);
            Expr* begin = math_.add(copy(columns_.begin),
                                    math_.multiply(b_.var(block), math_.number(width_)));
            Expr* last = math_.add(b_.var(first_), math_.number(width_));
            Body body = {b_.assign(first_, begin),
                         b_.assign(end_, math_.least(last, copy(columns_.end)))};
            for (const Kept& kept : kept_)
                body.push_back(b_.alloc(kept.values));
            write(parts_, body);
            Expr* count = math_.greatest(math_.subtract(copy(columns_.end), copy(columns_.begin)),
                                         math_.number(0));
            Expr* blocks = b_.binary(Op::kQuotient, math_.add(count, math_.number(width_ - 1)),
                                     math_.number(width_));
            For* all = b_.loop(block, math_.number(0), folded(b_, blocks), std::move(body));
            all->mapping = columns_.mapping;
            return all;
        }

    private:
        // A scalar of an iteration that a part finds as an earlier one left it.
        struct Kept {
            Var* var;
            Var* values = nullptr;
        };

        Expr* copy(const Expr* e) { return clone(pass_.module_, e); }

        std::int64_t width() {
            const std::int64_t most = kept_.size() > 2 ? kColumns / 2 : kColumns;
            const auto trips = constant_trip_count(columns_);
            if (!trips) return most;
            if (columns_.mapping.level != Level::kWorkers) return std::min(*trips, most);
            const std::int64_t each = (*trips + kBlocks - 1) / kBlocks;
            return std::clamp((each + 31) / 32 * 32, kFewestOfWorker, most);
        }

        void find_kept(const Columns& parts) {
            const Uses all = uses_of(columns_.body);
            for (const Part& part : parts) {
                if (part.steps != nullptr) {
                    find_kept(part.inside);
                    continue;
                }
                for (Var* var : exposed_reads(part.stmts)) {
                    const bool own = all.written.contains(var) && !met_.contains(var) &&
                                     !counts_steps(parts_, var);
                    if (own && std::ranges::find(kept_, var, &Kept::var) == kept_.end())
                        kept_.push_back({var});
                }
            }
        }

        static bool counts_steps(const Columns& parts, const Var* var) {
            return std::ranges::any_of(parts, [&](const Part& part) {
                return part.steps != nullptr &&
                       (part.steps->var == var || counts_steps(part.inside, var));
            });
        }

        void write(const Columns& parts, Body& out) {
            for (const Part& part : parts) {
                if (part.steps == nullptr) {
                    out.push_back(each_column(part.stmts, {Substitution{}}));
                } else if (const std::int64_t times = together(part); times > 1) {
                    several(part, times, out);
                } else {
                    const For& steps = *part.steps;
                    For* loop = b_.loop(steps.var, copy(steps.begin), copy(steps.end), {},
                                        copy(steps.step));
                    write(part.inside, loop->body);
                    out.push_back(loop);
                }
            }
        }

        // Steps that are taken at a time: a block is loaded and stored once for all of them.
        static std::int64_t together(const Part& part) {
            if (part.inside.size() != 1 || part.inside.front().steps != nullptr ||
                contains_loop(part.inside.front().stmts) ||
                constant_integer(part.steps->step) != 1) {
                return 1;
            }
            std::int64_t statements = 0, steps = kMostTogether;
            for_each_stmt(part.inside.front().stmts, [&](const Stmt&) { ++statements; });
            while (steps > 1 && steps * statements > kMostRepeated)
                steps /= 2;
            return steps;
        }

        // [begin, middle) so many steps at a time, then the rest.
        void several(const Part& part, std::int64_t together, Body& out) {
            const For& steps = *part.steps;
            const Body& stmts = part.inside.front().stmts;
            IndexMath math(b_, steps.var->type.scalar);
            Var* middle = b_.scalar("together", steps.var->type.scalar);
            Expr* count =
                math.greatest(math.subtract(copy(steps.end), copy(steps.begin)), math.number(0));
            Expr* whole =
                b_.binary(Op::kMul, b_.binary(Op::kQuotient, count, math.number(together)),
                          math.number(together));
            out.push_back(
                b_.assign(middle, folded(b_, math.add(copy(steps.begin), folded(b_, whole)))));
            Var* first = pass_.module_.make_like(*steps.var);
            std::vector<Substitution> times;
            for (std::int64_t i = 0; i < together; ++i) {
                Substitution& own = times.emplace_back();
                own.values[steps.var] = math.add(b_.var(first), math.number(i));
            }
            out.push_back(b_.loop(first, copy(steps.begin), b_.var(middle),
                                  {each_column(stmts, times)}, math.number(together)));
            const auto trips = constant_trip_count(steps);
            if (trips && *trips % together == 0) return;
            Var* one = pass_.module_.make_like(*steps.var);
            Substitution rest;
            rest.vars[steps.var] = one;
            out.push_back(
                b_.loop(one, b_.var(middle), copy(steps.end), {each_column(stmts, {rest})}));
        }

        // for j in block: the statements, once for each of `times`
        For* each_column(const Body& stmts, std::vector<Substitution> times) {
            const Uses uses = uses_of(stmts);
            Var* column = pass_.module_.make_like(*columns_.var);
            const auto place = [&] { return math_.subtract(b_.var(column), b_.var(first_)); };
            Body body, ends;
            for (const Kept& kept : kept_) {
                const bool written = uses.written.contains(kept.var);
                VarSet after;
                if (written) after.insert(kept.var);
                if (exposed_reads(stmts, after).contains(kept.var))
                    body.push_back(b_.assign(kept.var, b_.load(kept.values, {place()})));
                if (written) ends.push_back(b_.store(kept.values, {place()}, b_.var(kept.var)));
            }
            for (Substitution& substitution : times) {
                substitution.vars[columns_.var] = column;
                const Body copies = clone(pass_.module_, stmts, substitution);
                body.insert(body.end(), copies.begin(), copies.end());
            }
            body.insert(body.end(), ends.begin(), ends.end());
            For* loop = b_.loop(column, b_.var(first_), b_.var(end_), std::move(body));
            const bool meets = std::ranges::any_of(
                met_, [&](const Var* var) { return uses.written.contains(var); });
            if (!meets && !contains_loop(stmts)) {
                loop->mapping.level = Level::kVector;
                loop->mapping.threads = 1;
            }
            return loop;
        }

        Blocking& pass_;
        Builder b_;
        IndexMath math_;
        For& columns_;
        const Columns& parts_;
        VarSet met_;  // in which columns meet
        std::vector<Kept> kept_;
        std::int64_t width_ = 0;
        Var* first_ = nullptr;
        Var* end_ = nullptr;
    };

    Module& module_;
    Function& entry_;
    const bool deterministic_;
    std::unique_ptr<ParallelLoops> loops_;  // of the function as it is now
};

}  // namespace

void block_columns(PassContext& context) {
    Blocking(context).run();
}

}  // namespace parpy
