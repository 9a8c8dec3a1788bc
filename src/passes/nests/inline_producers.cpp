// See inline_producers.h. The last nest of a body is tried first: the nest that it is inlined into
// then has the uses of earlier ones, so that an element that several need is computed once.
#include "passes/nests/inline_producers.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/contractions/products.h"
#include "analysis/cost.h"
#include "analysis/geometry.h"
#include "analysis/integers/intervals.h"
#include "analysis/nests.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/nests/own_arrays.h"

namespace parpy {

using namespace ir;

namespace {

// The rates of a whole busy machine, in nanoseconds. Only their ratios matter, but for `launch`.
struct Rates {
    double operators;  // for those that take a core one (cost.h)
    double load;       // from a cache close by
    double byte;       // moved to or from memory
    double stored;     // how often the bytes of a store are moved
    double cached;     // bytes of arrays that stay in caches
    double launch;     // of a nest
    double parallel;   // iterations that keep it busy
    bool apart;        // loops with few functions such as exp are faster than one with all of them
};
constexpr Rates kCpu = {1.0 / 8, 0.1 / 8, 0.125 / 8, 2, 2 << 20, 1000, 64, true};
constexpr Rates kCuda = {3e-4, 3e-4, 2.5e-4, 1, 32 << 20, 3000, 65536, false};
constexpr double kInCache = 0.25;   // of the time of a byte that comes from memory
constexpr double kClose = 1 << 14;  // bytes of arrays that are as close as loads are

// The most evaluations in one iteration: with more of them, compilers are slow.
constexpr std::size_t kMostEvaluations = 16;
constexpr std::size_t kMostStatements = 256;

// Each try analyses all statements of the function again.
constexpr std::size_t kMostAnalysed = 100'000;

class Inlining {
public:
    Inlining(PassContext& context, const Rates& rates)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options),
          rates_(rates) {}

    void run() {
        made_ = own_arrays(entry_);
        if (made_.empty()) return;
        body(entry_.body);
        drop_unused();
    }

private:
    void body(Body& stmts) {
        for (std::size_t i = stmts.size(); i-- > 0;) {
            auto* loop = stmts[i]->as<For>();
            if (loop != nullptr) around_.push_back(loop);
            for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
            if (loop != nullptr) around_.pop_back();
            if (stmts[i]->kind == StmtKind::kFor) nest(stmts, i);
        }
    }

    // A nest whose loops run over a box, and whose iterations each store to elements of their own.
    struct Producer {
        Body* body = nullptr;  // in which its nest stands
        std::size_t place = 0;
        Nest nest;
        Store* store = nullptr;
        struct Axis {
            For* loop = nullptr;          // null: the subscript is `offset` or `fixed` alone
            std::int64_t offset = 0;      // added to its variable
            const Expr* fixed = nullptr;  // does not change with the nest
        };
        std::vector<Axis> axes;
        std::vector<Assign*> before;  // assignments that the value depends on, in order
    };

    // A load of the array in a statement of `body` that follows the producer.
    struct Use {
        Expr* load;
        Body* body;
        std::size_t place;
        std::vector<For*> loops;  // around it, from the body of the producer on
    };

    // An element that a body needs, and the statements that compute it.
    struct Element {
        Body* body;
        std::size_t place;  // the statement that the computation precedes
        std::vector<For*> loops;
        std::vector<Expr*> indices;
        std::vector<Stmt*> stmts;
        Var* value;
    };

    void nest(Body& stmts, std::size_t place) {
        const Nest nest = nest_of(*stmts[place]->as<For>());
        Body& inner = nest.back()->body;
        const bool straight = std::ranges::all_of(inner, [](const Stmt* stmt) {
            return stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kStore;
        });
        if (!straight || !is_box(nest) || are_mapped(nest, entry_, options_.mapping)) return;
        for (std::size_t i = inner.size(); i-- > 0;)
            forward(inner, i);
        for (std::size_t i = inner.size(); i-- > 0;) {
            auto* store = inner[i]->as<Store>();
            if (store == nullptr) continue;
            const auto producer = producer_of(stmts, place, nest, *store);
            if (producer && inline_elements(*producer)) i = std::min(i, inner.size());
        }
        if (inner.empty()) stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
    }

    static bool is_box(const Nest& nest) {
        return std::ranges::all_of(nest, [](const For* loop) {
            const auto begin = constant_integer(loop->begin), end = constant_integer(loop->end);
            return begin && end && *begin < *end && constant_integer(loop->step) == 1 &&
                   loop->var->type == Type::of(Scalar::kI64);
        });
    }

    // ------------------------------------------------------------ in one iteration

    // Replaces loads of the element that a statement has stored by its value.
    void forward(Body& inner, std::size_t place) {
        auto* store = inner[place]->as<Store>();
        if (store == nullptr || !is_only(*store)) return;
        if (!is_mentioned(entry_, *store->array)) {  // it is never loaded
            if (is_pure(*store->value)) inner.erase(std::ranges::find(inner, store));
            return;
        }
        const VarSet written = uses_of(inner).written;
        const bool settled = std::ranges::all_of(store->indices, [&](const Expr* index) {
            return uses_of(*index).loaded.empty() &&
                   std::ranges::none_of(uses_of(*index).read,
                                        [&](Var* var) { return written.contains(var); });
        });
        if (!settled) return;
        Var* value = nullptr;
        for (std::size_t i = place + 1; i < inner.size(); ++i) {
            rewrite_slots(*inner[i], [&](Expr* e) {
                if (e->op != Op::kLoad || e->var != store->array ||
                    !same(e->operands, store->indices)) {
                    return e;
                }
                if (value == nullptr) value = scalar_like(module_, *store);
                return Builder(module_, e->span).var(value);
            });
        }
        if (value == nullptr) return;
        Builder b(module_, store->span);
        Assign* assign = b.assign(value, store->value);
        store->value = b.var(value);
        inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(place), assign);
        if (!is_mentioned(entry_, *store->array)) inner.erase(std::ranges::find(inner, store));
    }

    // Whether this store gives all elements of an array of the program their only values.
    [[nodiscard]] bool is_only(const Store& store) const {
        return is_plain(store) && made_.contains(store.array) &&
               count_stores(entry_, *store.array) == 1;
    }

    // ------------------------------------------------------------ producers

    [[nodiscard]] std::optional<Producer> producer_of(Body& stmts, std::size_t place,
                                                      const Nest& nest, Store& store) const {
        Producer out{&stmts, place, nest, &store, {}, {}};
        if (!is_only(store)) return std::nullopt;
        std::unordered_set<const For*> used;
        for (const Expr* index : store.indices) {
            Producer::Axis axis;
            if (const auto constant = constant_integer(index)) {
                axis.offset = *constant;
            } else {
                for (For* loop : nest) {
                    const auto offset = constant_offset(*index, *loop->var);
                    if (offset) axis = {loop, *offset};
                }
                if (axis.loop == nullptr) {
                    const Uses changes = uses_of(*static_cast<const Stmt*>(nest.front()));
                    if (!invariant(*index, changes)) return std::nullopt;
                    axis.fixed = index;
                }
                if (axis.loop != nullptr && !used.insert(axis.loop).second) return std::nullopt;
            }
            out.axes.push_back(axis);
        }
        if (used.size() != nest.size()) return std::nullopt;
        // Collects, backwards, the assignments that the value depends on.
        const Body& inner = nest.back()->body;
        VarSet wanted = uses_of(*store.value).read;
        std::unordered_map<const Var*, int> assigned;
        for (const Stmt* stmt : inner)
            if (const auto* assign = stmt->as<Assign>()) ++assigned[assign->var];
        for (auto it = std::ranges::find(inner, &store); it != inner.begin();) {
            auto* assign = (*--it)->as<Assign>();
            if (assign == nullptr || !wanted.contains(assign->var)) continue;
            if (assign->update || assigned.at(assign->var) > 1) return std::nullopt;
            wanted.erase(assign->var);
            wanted.insert(uses_of(*assign->value).read);
            out.before.insert(out.before.begin(), assign);
        }
        const bool open =
            std::ranges::any_of(wanted, [&](const Var* var) { return assigned.contains(var); });
        return open ? std::nullopt : std::optional(std::move(out));
    }

    static std::vector<const Expr*> values_of(const Producer& producer) {
        std::vector<const Expr*> values;
        for (const Assign* assign : producer.before)
            values.push_back(assign->value);
        values.push_back(producer.store->value);
        return values;
    }

    // All uses of the array; nothing if one of them is of a kind that must stay.
    [[nodiscard]] std::optional<std::vector<Use>> uses(const Producer& producer) const {
        const Var& array = *producer.store->array;
        std::vector<Use> found;
        std::vector<For*> loops;
        bool fits = true;
        std::size_t loads = 0;
        const std::function<void(Body&)> collect = [&](Body& stmts) {
            for (std::size_t i = 0; i < stmts.size(); ++i) {
                Stmt& stmt = *stmts[i];
                const bool takes = stmt.kind == StmtKind::kAssign ||
                                   stmt.kind == StmtKind::kStore || stmt.kind == StmtKind::kIf;
                for_each_slot(stmt, [&](Expr*& slot) {
                    for_each_expr(*slot, [&](Expr& e) {
                        if (e.var != &array) return;
                        fits = fits && takes && e.op == Op::kLoad;
                        found.push_back({&e, &stmts, i, loops});
                    });
                });
                auto* loop = stmt.as<For>();
                if (loop != nullptr) loops.push_back(loop);
                if (loop != nullptr || stmt.kind == StmtKind::kIf) for_each_body(stmt, collect);
                if (loop != nullptr) loops.pop_back();
            }
        };
        for (std::size_t i = producer.place + 1; i < producer.body->size(); ++i) {
            Body one = {(*producer.body)[i]};
            // Statements of the body itself are not in a loop, so no element is computed in them.
            if (one.front()->kind == StmtKind::kFor) {
                auto* loop = one.front()->as<For>();
                loops = {loop};
                collect(loop->body);
                loops.clear();
            }
        }
        for_each_expr(entry_.body, [&](const Expr& e) { loads += e.var == &array; });
        if (!fits || found.empty() || loads != found.size()) return std::nullopt;
        return found;
    }

    // Whether the operands of the value stay unchanged up to the last use.
    [[nodiscard]] bool is_settled(const Producer& producer, const std::vector<Use>& found) const {
        VarSet own;
        for (const For* loop : producer.nest)
            own.insert(loop->var);
        for (const Assign* assign : producer.before)
            own.insert(assign->var);
        std::size_t last = producer.place;
        for (std::size_t i = producer.place; i < producer.body->size(); ++i) {
            const bool here = std::ranges::any_of(
                found, [&](const Use& use) { return use.loops.front() == (*producer.body)[i]; });
            if (here) last = i;
        }
        const Body range(producer.body->begin() + static_cast<std::ptrdiff_t>(producer.place),
                         producer.body->begin() + static_cast<std::ptrdiff_t>(last) + 1);
        const Uses between = uses_of(range);
        if (between.calls) return false;
        std::vector<const Expr*> values = values_of(producer);
        for (const Producer::Axis& axis : producer.axes)
            if (axis.fixed != nullptr) values.push_back(axis.fixed);
        return std::ranges::all_of(values, [&](const Expr* value) {
            const Uses needed = uses_of(*value);
            return is_pure(*value) &&
                   std::ranges::none_of(needed.loaded,
                                        [&](const Var* a) { return between.may_store(*a); }) &&
                   std::ranges::none_of(needed.read, [&](const Var* v) {
                       return !own.contains(v) && between.written.contains(v);
                   });
        });
    }

    struct Place {  // variable + offset; null: the offset alone
        Var* variable = nullptr;
        std::int64_t offset = 0;
    };

    // The values of the variable of a loop in its body.
    static std::optional<Interval> values_of(const For& loop, const Intervals& intervals) {
        const auto step = constant_integer(loop.step);
        if (!step || *step < 0) return std::nullopt;
        constexpr std::int64_t kFar = std::int64_t{1} << 48;
        const Interval begin = intervals.of(loop.begin), end = intervals.of(loop.end);
        const Interval far{-kFar, kFar};
        if (begin.empty() || end.empty() || !begin.within(far) || !end.within(far))
            return std::nullopt;
        return Interval{begin.low, std::max(begin.low, end.high - 1)};
    }

    // The place of the subscript, if its element has certainly been stored.
    static std::optional<Place> place_of(const Expr& index, const Use& use,
                                         const Producer::Axis& axis, const Intervals& intervals) {
        if (axis.fixed != nullptr)
            return same(index, *axis.fixed) ? std::optional(Place{}) : std::nullopt;
        Interval stored = Interval::exactly(axis.offset);
        if (axis.loop != nullptr) {
            stored = {*constant_integer(axis.loop->begin) + axis.offset,
                      *constant_integer(axis.loop->end) - 1 + axis.offset};
        }
        if (const auto constant = constant_integer(&index)) {
            if (!Interval::exactly(*constant).within(stored)) return std::nullopt;
            return Place{nullptr, *constant};
        }
        for (const For* loop : use.loops) {
            const auto offset = constant_offset(index, *loop->var);
            if (!offset) continue;
            const auto values = values_of(*loop, intervals);
            if (!values || !Interval{values->low + *offset, values->high + *offset}.within(stored))
                return std::nullopt;
            return Place{loop->var, *offset};
        }
        return std::nullopt;
    }

    // ------------------------------------------------------------ the elements

    bool inline_elements(const Producer& producer) {
        const auto found = uses(producer);
        if (!found || !is_settled(producer, *found)) return false;
        for_each_stmt(entry_.body, [&](const Stmt&) { ++analysed_; });
        if (analysed_ > kMostAnalysed) return false;
        const Intervals intervals(entry_);
        std::vector<Element> elements;
        std::vector<std::size_t> of_use;
        for (const Use& use : *found) {
            const auto known = std::ranges::find_if(elements, [&](const Element& element) {
                return element.body == use.body && same(element.indices, use.load->operands);
            });
            of_use.push_back(static_cast<std::size_t>(known - elements.begin()));
            if (known != elements.end()) continue;
            auto element = element_of(producer, use, intervals);
            if (!element) return false;
            elements.push_back(std::move(*element));
        }
        if (!is_worth_it(producer, *found, elements)) return false;
        for (std::size_t i = 0; i < found->size(); ++i) {
            Expr& load = *(*found)[i].load;
            load = *Builder(module_, load.span).var(elements[of_use[i]].value);
        }
        // From the last place to the first, so that earlier places stay valid.
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t i = 0; i < elements.size(); ++i)
            order.emplace_back(elements[i].place, i);
        std::ranges::sort(order, std::greater{});
        for (const auto& [place, i] : order) {
            const Element& element = elements[i];
            element.body->insert(element.body->begin() + static_cast<std::ptrdiff_t>(place),
                                 element.stmts.begin(), element.stmts.end());
        }
        drop(producer);
        return true;
    }

    std::optional<Element> element_of(const Producer& producer, const Use& use,
                                      const Intervals& intervals) {
        Builder b(module_, use.load->span);
        const auto moved = [&](const Place& place) -> Expr* {
            if (place.variable == nullptr) return b.integer(place.offset);
            Expr* var = b.var(place.variable);
            if (place.offset == 0) return var;
            return place.offset > 0 ? b.binary(Op::kAdd, var, b.integer(place.offset))
                                    : b.binary(Op::kSub, var, b.integer(-place.offset));
        };
        Substitution to;
        std::vector<Var*> variables;
        for (std::size_t axis = 0; axis < producer.axes.size(); ++axis) {
            const Producer::Axis& own = producer.axes[axis];
            auto place = place_of(*use.load->operands[axis], use, own, intervals);
            if (!place) return std::nullopt;
            if (own.loop == nullptr) continue;
            place->offset -= own.offset;
            to.values[own.loop->var] = moved(*place);
            if (place->variable != nullptr) variables.push_back(place->variable);
        }
        const auto copy = [&](const Expr* value) {
            Expr* made = clone(module_, value, to);
            rewrite(made, [&](Expr* e) {
                if (e->op != Op::kLoad) return e;
                for (Expr*& index : e->operands) {
                    for (Var* variable : variables) {
                        const auto offset = constant_offset(*index, *variable);
                        if (offset && index->type == Type::of(Scalar::kI64))
                            index = moved({variable, *offset});
                    }
                }
                return e;
            });
            return made;
        };
        Element out{use.body, use.place, use.loops, use.load->operands, {}, nullptr};
        for (const Assign* assign : producer.before) {
            Var* own = module_.make_like(*assign->var);
            out.stmts.push_back(b.assign(own, copy(assign->value)));
            to.vars[assign->var] = own;
        }
        out.value = scalar_like(module_, *producer.store);
        out.stmts.push_back(b.assign(out.value, copy(producer.store->value)));
        return out;
    }

    // Removes the store, and assignments that only it needs.
    void drop(const Producer& producer) {
        Body& inner = producer.nest.back()->body;
        std::erase(inner, producer.store);
        for (auto it = producer.before.rbegin(); it != producer.before.rend(); ++it) {
            bool read = false;
            for_each_expr(entry_.body, [&](const Expr& e) { read = read || e.var == (*it)->var; });
            if (!read) std::erase(inner, *it);
        }
        if (std::ranges::all_of(inner,
                                [](const Stmt* s) { return s->kind == StmtKind::kAssign; })) {
            VarSet assigned = uses_of(inner).written;
            bool read = false;
            for_each_expr(entry_.body, [&](const Expr& e) {
                read = read || (e.op == Op::kVar && assigned.contains(e.var));
            });
            if (!read) inner.clear();
        }
    }

    void drop_unused() {
        std::unordered_set<const Var*> used;
        for_each_expr(entry_.body, [&](const Expr& e) { used.insert(e.var); });
        for_each_stmt(entry_.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) used.insert(store->array);
        });
        rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
            const auto* alloc = stmt->as<Alloc>();
            const bool unused =
                alloc != nullptr && made_.contains(alloc->array) && !used.contains(alloc->array);
            if (!unused) out.push_back(stmt);
        });
    }

    // ------------------------------------------------------------ whether it is worth it

    static std::vector<const Expr*> loads_of(const Body& body) {
        std::vector<const Expr*> loads;
        for_each_expr(body, [&](const Expr& e) { add_load(loads, e); });
        return loads;
    }

    // False: it is known already.
    static bool add_load(std::vector<const Expr*>& loads, const Expr& e) {
        if (e.op != Op::kLoad) return false;
        const bool known =
            std::ranges::any_of(loads, [&](const Expr* other) { return same(*other, e); });
        if (!known) loads.push_back(&e);
        return !known;
    }

    static bool has_elementary(const Body& body) {
        return any_expr(body, [](const Expr& e) {
            return (rule(e.op) == TypeRule::kFloat && e.op != Op::kSqrt) || e.op == Op::kPow;
        });
    }

    bool is_worth_it(const Producer& producer, const std::vector<Use>& found,
                     const std::vector<Element>& elements) {
        ParallelLoops loops(entry_, options_.deterministic);
        const Traffic traffic = loops.traffic();
        const Accesses& accesses = loops.accesses();
        const auto runs = [&](const For* loop) {
            return std::max(1.0, traffic.runs(accesses.loop_of(loop)));
        };
        double trips = 1;
        for (const For* loop : producer.nest)
            trips *= traffic.trips(*loop);
        const double size = trips * size_in_bytes(producer.store->array->type.scalar);
        const double byte = size < kClose ? 0 : rates_.byte * (size < rates_.cached ? kInCache : 1);
        const bool launched =
            std::ranges::none_of(around_, [&](For* loop) { return loops.legal(*loop); });

        std::unordered_set<const For*> readers;
        for (const Use& use : found)
            readers.insert(use.loops.front());
        for (const For* reader : readers) {
            Body inside = {const_cast<For*>(reader)};
            if (adds_products(inside, 2)) return false;  // may be a contraction
        }
        double seconds = 0;  // in addition to the previous time
        std::unordered_map<const Body*, std::vector<const Expr*>> loaded;
        std::unordered_map<const Body*, std::size_t> evaluations;
        for (const Element& element : elements) {
            double parallel = 1;
            for (For* loop : element.loops) {
                if (loops.legal(*loop)) parallel *= traffic.trips(*loop);
            }
            if (parallel < std::min(trips / 2, rates_.parallel)) return false;
            if (++evaluations[element.body] > kMostEvaluations ||
                element.body->size() > kMostStatements) {
                return false;
            }
            if (rates_.apart && has_elementary(element.stmts) && has_elementary(*element.body))
                return false;
            const auto [known, fresh] = loaded.try_emplace(element.body);
            if (fresh) known->second = loads_of(*element.body);
            double time = -rates_.load;  // of a load of the array
            for (const Stmt* stmt : element.stmts) {
                time += rates_.operators * cost_of_operators(*stmt->as<Assign>()->value);
                for_each_expr(*stmt, [&](const Expr& e) {
                    if (add_load(known->second, e)) time += rates_.load;
                });
            }
            seconds += time * runs(element.loops.back());
        }
        double saved = rates_.load;  // in an iteration of the producer
        for (const Expr* value : values_of(producer)) {
            saved += rates_.operators * cost_of_operators(*value);
            for_each_expr(*value, [&](const Expr& e) {
                if (e.op == Op::kLoad) saved += rates_.load;
            });
        }
        const double executions = runs(producer.nest.back()) / trips;
        const bool alone = std::ranges::all_of(producer.nest.back()->body, [&](const Stmt* stmt) {
            return stmt == producer.store || stmt->kind == StmtKind::kAssign;
        });
        if (alone) seconds -= saved * trips * executions;
        if (alone && launched) seconds -= rates_.launch * executions;
        seconds -= byte * size * (rates_.stored + static_cast<double>(readers.size())) * executions;
        return seconds < 0;
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    const Rates& rates_;
    std::unordered_set<const Var*> made_;  // by the program, for itself
    std::vector<For*> around_;             // loops, the outermost first
    std::size_t analysed_ = 0;             // statements, so far
};

}  // namespace

void inline_cpu_producers(PassContext& context) {
    Inlining(context, kCpu).run();
}

void inline_cuda_producers(PassContext& context) {
    Inlining(context, kCuda).run();
}

}  // namespace parpy
