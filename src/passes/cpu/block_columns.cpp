// See block_columns.h.
#include "passes/cpu/block_columns.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/integers/index_math.h"
#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/column_parts.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kColumns = 512;  // of a block: its values stay in the first cache
constexpr std::int64_t kFewestOfWorker = 128;
constexpr std::int64_t kBlocks = 16;  // that a few cores share evenly
constexpr std::size_t kMostKept = 6;  // scalars of an iteration that are wanted in a later part
constexpr std::int64_t kMostTogether = 8;   // steps that are taken at a time
constexpr std::int64_t kMostRepeated = 16;  // statements that are written out for them

using Columns = std::vector<ColumnPart>;

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
                const auto parts = column_parts(loops(), *loop);
                Stmt* blocks = parts ? Blocks(*this, *loop, *parts).run() : nullptr;
                if (blocks != nullptr) {
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

    // ------------------------------------------------------------ blocks

    class Blocks {
    public:
        Blocks(Blocking& pass, For& columns, const Columns& parts)
            : pass_(pass),
              b_(pass.module_, columns.span),
              math_(b_, columns.var->type.scalar),
              columns_(columns),
              parts_(parts) {
            for (const UpdateGroup& group : pass.loops().facts(columns).reductions)
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
            for (const ColumnPart& part : parts) {
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
            return std::ranges::any_of(parts, [&](const ColumnPart& part) {
                return part.steps != nullptr &&
                       (part.steps->var == var || counts_steps(part.inside, var));
            });
        }

        void write(const Columns& parts, Body& out) {
            for (const ColumnPart& part : parts) {
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
        static std::int64_t together(const ColumnPart& part) {
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
        void several(const ColumnPart& part, std::int64_t together, Body& out) {
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
                                  {each_column(stmts, times, &steps)}, math.number(together)));
            const auto trips = constant_trip_count(steps);
            if (trips && *trips % together == 0) return;
            Var* one = pass_.module_.make_like(*steps.var);
            Substitution rest;
            rest.vars[steps.var] = one;
            out.push_back(
                b_.loop(one, b_.var(middle), copy(steps.end), {each_column(stmts, {rest})}));
        }

        // An element of a column that every step stores, and no statement touches under another
        // name or by other subscripts.
        struct Element {
            Var* array;
            const std::vector<Expr*>* indices;
            Var* value;
        };

        std::vector<Element> stored_elements(const Body& stmts, const For* steps) {
            std::vector<Element> found;
            if (steps == nullptr) return found;
            Uses uses = uses_of(stmts);
            uses.written.insert(steps->var);
            for (const Stmt* stmt : stmts) {
                const auto* store = stmt->as<Store>();
                if (store == nullptr || store->atomic ||
                    store->value->type != Type::of(store->array->type.scalar) ||
                    std::ranges::find(found, store->array, &Element::array) != found.end()) {
                    continue;
                }
                const bool own = std::ranges::all_of(
                                     store->indices,
                                     [&](const Expr* index) { return invariant(*index, uses); }) &&
                                 touched_as(stmts, *store, uses);
                if (!own) continue;
                Var* value = b_.scalar(store->array->name + "_column", store->array->type.scalar);
                found.push_back({store->array, &store->indices, value});
            }
            return found;
        }

        static bool touched_as(const Body& stmts, const Store& store, const Uses& uses) {
            const auto other = [&](const VarSet& arrays) {
                return std::ranges::any_of(arrays, [&](const Var* array) {
                    return array != store.array && may_share(*array, *store.array);
                });
            };
            return !other(uses.loaded) && !other(uses.stored) &&
                   !any_expr(stmts,
                             [&](const Expr& e) {
                                 return e.var == store.array &&
                                        (e.op != Op::kLoad || !same(e.operands, store.indices));
                             }) &&
                   !any_stmt(stmts, [&](const Stmt& stmt) {
                       const auto* more = stmt.as<Store>();
                       return more != nullptr && more->array == store.array &&
                              (more->atomic || !same(more->indices, store.indices));
                   });
        }

        void keep(const Element& element, Body& stmts) {
            rewrite(stmts, [&](Expr* e) {
                return e->op == Op::kLoad && e->var == element.array ? b_.var(element.value) : e;
            });
            rewrite_stmts(stmts, [&](Stmt* stmt, Body& out) {
                auto* store = stmt->as<Store>();
                if (store != nullptr && store->array == element.array) {
                    stmt = store->update ? b_.update(element.value, *store->update, store->value)
                                         : b_.assign(element.value, store->value);
                }
                out.push_back(stmt);
            });
        }

        // for j in block: the statements, once for each of `times`
        // in them, elements that all `steps` store are scalars
        For* each_column(const Body& stmts, std::vector<Substitution> times,
                         const For* steps = nullptr) {
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
            const std::vector<Element> elements = stored_elements(stmts, steps);
            Substitution here;
            here.vars[columns_.var] = column;
            const auto indices = [&](const Element& element) {
                std::vector<Expr*> copies;
                for (const Expr* index : *element.indices)
                    copies.push_back(clone(pass_.module_, index, here));
                return copies;
            };
            for (const Element& element : elements)
                body.push_back(b_.assign(element.value, b_.load(element.array, indices(element))));
            for (Substitution& substitution : times) {
                substitution.vars[columns_.var] = column;
                Body copies = clone(pass_.module_, stmts, substitution);
                for (const Element& element : elements)
                    keep(element, copies);
                body.insert(body.end(), copies.begin(), copies.end());
            }
            for (const Element& element : elements)
                ends.push_back(b_.store(element.array, indices(element), b_.var(element.value)));
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
