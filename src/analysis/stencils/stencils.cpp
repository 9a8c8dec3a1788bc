// See stencils.h.
#include "analysis/stencils/stencils.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool StencilLoad::is_own() const {
    return std::ranges::all_of(offsets, [](std::int64_t d) { return d == 0; });
}

bool StencilSweep::is_line() const {
    return std::ranges::any_of(axes, [](const Axis& axis) {
        if (axis.loop == nullptr) return true;
        const auto begin = axis.begin ? axis.begin : constant_integer(axis.loop->begin);
        const auto end = axis.end ? axis.end : constant_integer(axis.loop->end);
        return begin && end && *end - *begin < 4;
    });
}

const StencilArray& Stencil::of(const Var* array) const {
    return *std::ranges::find(arrays, array, &StencilArray::array);
}
bool Stencil::changes(const Var* array) const {
    return std::ranges::find(arrays, array, &StencilArray::array) != arrays.end();
}

namespace {

constexpr std::int64_t kFarthest = 64;  // offset of a load along one axis
constexpr std::size_t kMostSweeps = 16;

std::string quoted(const Var& var) {
    return "'" + var.shown() + "'";
}

// Matches one loop; `reason` is empty as long as it may be a stencil. `near`: the reason is worth
// telling the user.
class Matcher {
public:
    explicit Matcher(For& time) : time_(time), uses_(uses_of(time.body)) { result_.time = &time; }

    std::optional<Stencil> run() {
        if (!is_candidate()) return std::nullopt;
        near_ = true;
        if (bounds() && sweeps() && scalars() && arrays()) return std::move(result_);
        return std::nullopt;
    }

    [[nodiscard]] bool near() const { return near_; }
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    bool refuse(std::string reason) {
        reason_ = std::move(reason);
        return false;
    }

    // Whether there are only nests and scalars, and a store's array is loaded elsewhere.
    bool is_candidate() {
        bool has_nest = false;
        for (const Stmt* stmt : time_.body) {
            if (stmt->kind == StmtKind::kFor) {
                has_nest = true;
            } else if (const auto* gpu = stmt->as<Gpu>()) {
                // Scalars that one thread of the GPU computes for all threads.
                const bool scalars = std::ranges::all_of(
                    gpu->body, [](const Stmt* inner) { return inner->kind == StmtKind::kAssign; });
                if (gpu->by_hand() || !scalars) return false;
            } else if (stmt->kind != StmtKind::kAssign) {
                return false;
            }
        }
        if (!has_nest || uses_.stored.empty()) return false;
        for (Var* array : uses_.stored) {
            if (array->dims.empty()) return false;
        }
        result_.rank = (*uses_.stored.begin())->dims.size();
        bool reads_neighbour = false, stores_by_time = false;
        for_each_stmt(time_.body, [&](const Stmt& stmt) {
            const auto* store = stmt.as<Store>();
            if (store == nullptr) return;
            for_each_expr(time_.body, [&](const Expr& e) {
                if (e.op == Op::kLoad && e.var == store->array)
                    reads_neighbour = reads_neighbour || are_apart(e.operands, store->indices);
            });
            for (const Expr* index : store->indices)
                stores_by_time = stores_by_time || any_expr(*index, [&](const Expr& e) {
                                     return e.op == Op::kVar && e.var == time_.var;
                                 });
        });
        return reads_neighbour && !stores_by_time;
    }

    // Whether all subscripts are a variable plus a constant, and some constants differ.
    static bool are_apart(const std::vector<Expr*>& a, const std::vector<Expr*>& b) {
        bool differ = false;
        for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
            const auto x = constant_part(*a[k]), y = constant_part(*b[k]);
            if (!x || !y) return false;
            differ = differ || *x != *y;
        }
        return differ;
    }
    static std::optional<std::int64_t> constant_part(const Expr& index) {
        std::optional<std::int64_t> result = constant_integer(&index);
        for_each_expr(index, [&](const Expr& e) {
            if (e.op == Op::kVar && !result) result = constant_offset(index, *e.var);
        });
        return result;
    }

    bool bounds() {
        if (constant_integer(time_.step) != 1) return refuse("it does not count by one");
        if (contains_jump(time_.body)) return refuse("it may end early");
        const bool effects = any_expr(
            time_.body, [](const Expr& e) { return has_effects(e.op) || e.op == Op::kRegister; });
        if (effects) return refuse("a step calls a function");
        return true;
    }

    // Whether the expression has one value in all steps and iterations.
    [[nodiscard]] bool stands_still(const Expr& e) const {
        return invariant(e, uses_) && !any_expr(e, [&](const Expr& inner) {
                   return inner.op == Op::kVar && inner.var == time_.var;
               });
    }

    bool scalar(const Assign& assign) {
        for_each_expr(assign, [&](const Expr& e) {
            if (e.op == Op::kLoad && uses_.stored.contains(e.var))
                refuse("the scalar " + quoted(*assign.var) + " depends on " + quoted(*e.var) +
                       ", which the steps change");
        });
        result_.items.push_back({&assign, -1});
        return reason_.empty();
    }

    bool sweeps() {
        for (Stmt* stmt : time_.body) {
            if (const auto* assign = stmt->as<Assign>()) {
                if (!scalar(*assign)) return false;
                continue;
            }
            if (const auto* gpu = stmt->as<Gpu>()) {
                for (const Stmt* inner : gpu->body) {
                    if (!scalar(*inner->as<Assign>())) return false;
                }
                continue;
            }
            if (!sweep(*stmt->as<For>())) return false;
        }
        result_.below.assign(result_.rank, 0);
        result_.above.assign(result_.rank, 0);
        bool reaches = false;
        for (const StencilSweep& s : result_.sweeps) {
            for (std::size_t k = 0; k < result_.rank; ++k) {
                result_.below[k] += s.below[k];
                result_.above[k] += s.above[k];
                reaches = reaches || s.below[k] + s.above[k] > 0;
            }
        }
        return reaches || refuse("no step reads neighbouring elements");
    }

    // A body that stores elements, and the loops and conditions around it.
    struct Leaf {
        Nest loops;
        std::unordered_map<const For*, std::pair<std::int64_t, std::int64_t>> parts;  // of ranges
        const Body* body = nullptr;
    };

    bool sweep(For& top) {
        std::vector<Leaf> found;
        if (!leaves({&top}, {}, found)) return false;
        if (found.empty()) return refuse("the loop over " + quoted(*top.var) + " stores nothing");
        const std::size_t before = result_.sweeps.size();
        for (const Leaf& leaf : found) {
            const bool assigns = std::ranges::any_of(
                *leaf.body, [](const Stmt* stmt) { return stmt->kind == StmtKind::kAssign; });
            if (found.size() > 1 && assigns)
                return refuse("the loop over " + quoted(*top.var) +
                              " has assignments to scalars and several inner loops");
            if (!sweep(top, leaf)) return false;
        }
        // The sweeps must be able to run one after the other, each for all iterations.
        for (std::size_t later = before; later < result_.sweeps.size(); ++later) {
            for (std::size_t earlier = before; earlier < later; ++earlier) {
                if (!separable(result_.sweeps[earlier], result_.sweeps[later]))
                    return refuse("an iteration of " + quoted(*top.var) +
                                  " reads an element that another one writes");
            }
        }
        for (std::size_t n = before; n < result_.sweeps.size(); ++n)
            result_.items.push_back({nullptr, static_cast<int>(n)});
        return true;
    }

    bool leaves(const Body& body, const Leaf& around, std::vector<Leaf>& out) {
        const bool computes = std::ranges::all_of(body, [](const Stmt* stmt) {
            return stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kStore;
        });
        if (computes) {
            if (body.empty()) return true;
            out.push_back(around);
            out.back().body = &body;
            return true;
        }
        return std::ranges::all_of(body, [&](Stmt* stmt) {
            Leaf inside = around;
            if (auto* loop = stmt->as<For>()) {
                inside.loops.push_back(loop);
                return usable(*loop) && leaves(loop->body, inside, out);
            }
            if (const auto* branch = stmt->as<If>()) {
                Leaf other = around;
                if (!split(*branch->condition, inside, other))
                    return refuse(
                        "a condition selects something other than the first or the last iteration");
                return leaves(branch->then_body, inside, out) &&
                       leaves(branch->else_body, other, out);
            }
            return refuse("the loop over " + quoted(*around.loops.back()->var) +
                          " does more than give elements a value");
        });
    }

    bool usable(const For& loop) {
        if (constant_integer(loop.step) != 1)
            return refuse("the loop over " + quoted(*loop.var) + " does not count by one");
        if (!stands_still(*loop.begin) || !stands_still(*loop.end))
            return refuse("the range of " + quoted(*loop.var) + " changes");
        return loop.mapping.reductions.empty() ||
               refuse("the loop over " + quoted(*loop.var) + " is a reduction");
    }

    // Whether the condition is `i == n` or `i != n`, n being the first or last iteration of a loop
    // around; divides the iterations into those where it holds and the rest.
    static bool split(const Expr& condition, Leaf& holds, Leaf& others) {
        if (condition.op != Op::kEq && condition.op != Op::kNe) return false;
        const Expr& variable = *condition.operands[0];
        const auto number = constant_integer(condition.operands[1]);
        if (variable.op != Op::kVar || !number) return false;
        const auto found =
            std::ranges::find(holds.loops, variable.var, [](const For* loop) { return loop->var; });
        if (found == holds.loops.end()) return false;
        const auto known = holds.parts.find(*found);
        auto begin = constant_integer((*found)->begin), end = constant_integer((*found)->end);
        if (known != holds.parts.end()) {
            begin = known->second.first;
            end = known->second.second;
        }
        if (!begin || !end || *begin >= *end) return false;
        if (condition.op == Op::kNe) return split_at(*found, *number, *begin, *end, others, holds);
        return split_at(*found, *number, *begin, *end, holds, others);
    }
    static bool split_at(const For* loop, std::int64_t number, std::int64_t begin, std::int64_t end,
                         Leaf& equal, Leaf& others) {
        if (number != begin && number != end - 1) return false;
        equal.parts[loop] = {number, number + 1};
        others.parts[loop] =
            number == begin ? std::pair{begin + 1, end} : std::pair{begin, end - 1};
        return true;
    }

    bool sweep(const For& top, const Leaf& leaf) {
        if (result_.sweeps.size() == kMostSweeps) return refuse("a step has too many nests");
        StencilSweep s;
        s.top = &top;
        s.loops = leaf.loops;
        s.body = leaf.body;
        const Store* first = nullptr;
        for (const Stmt* stmt : *s.body) {
            const auto* store = stmt->as<Store>();
            if (store == nullptr) continue;
            if (store->atomic)
                return refuse("the loop over " + quoted(*s.loops.back()->var) +
                              " does more than give elements a value");
            if (first == nullptr) {
                if (!place(*store, leaf, s)) return false;
                first = store;
            } else if (!same(store->indices, first->indices)) {
                return refuse("one nest stores to different elements of " + quoted(*first->array) +
                              " and " + quoted(*store->array));
            }
            if (std::ranges::find(s.stored, store->array) == s.stored.end())
                s.stored.push_back(store->array);
        }
        if (first == nullptr)
            return refuse("the loop over " + quoted(*s.loops.front()->var) + " stores nothing");
        if (!loads(s)) return false;
        result_.sweeps.push_back(std::move(s));
        return true;
    }

    // Whether no iteration of the common loops uses elements that another iteration writes.
    static bool separable(const StencilSweep& earlier, const StencilSweep& later) {
        const auto together = [&](const StencilSweep& stores, const StencilSweep& other,
                                  const std::vector<std::int64_t>* offsets) {
            for (std::size_t k = 0; k < stores.axes.size(); ++k) {
                const StencilSweep::Axis &a = stores.axes[k], &b = other.axes[k];
                const bool shared = a.loop != nullptr &&
                                    std::ranges::find(other.loops, a.loop) != other.loops.end();
                if (!shared) continue;
                const std::int64_t offset = offsets != nullptr ? (*offsets)[k] : 0;
                if (a.loop != b.loop || a.shift != b.shift + offset) return false;
            }
            return true;
        };
        const auto apart = [&](const StencilSweep& stores, const StencilSweep& other) {
            for (const Var* array : stores.stored) {
                if (std::ranges::find(other.stored, array) != other.stored.end() &&
                    !together(stores, other, nullptr))
                    return false;
                for (const StencilLoad& load : other.loads) {
                    if (load.load->var == array && !together(stores, other, &load.offsets))
                        return false;
                }
            }
            return true;
        };
        return apart(earlier, later) && apart(later, earlier);
    }

    // Finds the axes of the element that an iteration writes.
    bool place(const Store& store, const Leaf& leaf, StencilSweep& s) {
        const Nest& nest = leaf.loops;
        if (store.indices.size() != result_.rank)
            return refuse("its arrays have different numbers of dimensions");
        std::vector<const For*> left(nest.begin(), nest.end());
        for (const Expr* index : store.indices) {
            StencilSweep::Axis axis;
            if (const auto constant = constant_integer(index)) {
                axis.shift = *constant;
                s.axes.push_back(axis);
                continue;
            }
            for (For* loop : nest) {
                const auto offset = constant_offset(*index, *loop->var);
                if (!offset) continue;
                const auto used = std::ranges::find(left, loop);
                if (used == left.end())
                    return refuse(quoted(*loop->var) + " is in two subscripts of an element");
                left.erase(used);
                axis.loop = loop;
                axis.shift = *offset;
                if (const auto part = leaf.parts.find(loop); part != leaf.parts.end()) {
                    axis.begin = part->second.first;
                    axis.end = part->second.second;
                }
            }
            if (axis.loop == nullptr)
                return refuse("a subscript of " + quoted(*store.array) +
                              " is not the sum of a loop variable and a constant");
            s.axes.push_back(axis);
        }
        return left.empty() || refuse("iterations of " + quoted(*left.front()->var) +
                                      " store to the same elements");
    }

    bool loads(StencilSweep& s) {
        s.below.assign(result_.rank, 0);
        s.above.assign(result_.rank, 0);
        VarSet own;  // scalars private to an iteration
        for (const Stmt* stmt : *s.body) {
            if (const auto* assign = stmt->as<Assign>()) own.insert(assign->var);
        }
        const auto look = [&](const Expr& e) {
            if (e.op != Op::kLoad || !reason_.empty()) return;
            if (!uses_.stored.contains(e.var)) {
                s.loads_others = true;
                for (const Expr* index : e.operands) {
                    const bool plain = !any_expr(*index, [&](const Expr& i) {
                        return i.op == Op::kLoad || (i.op == Op::kVar && own.contains(i.var));
                    });
                    if (!plain) refuse("subscripts of " + quoted(*e.var) + " are computed");
                }
                return;
            }
            StencilLoad load{&e, {}};
            if (e.operands.size() != result_.rank) {
                refuse("its arrays have different numbers of dimensions");
                return;
            }
            for (std::size_t k = 0; k < result_.rank; ++k) {
                const StencilSweep::Axis& axis = s.axes[k];
                const auto at = axis.loop != nullptr
                                    ? constant_offset(*e.operands[k], *axis.loop->var)
                                    : constant_integer(e.operands[k]);
                if (!at || std::abs(*at - axis.shift) > kFarthest) {
                    refuse("an element of " + quoted(*e.var) +
                           " is not at a fixed distance from the one that is written");
                    return;
                }
                const std::int64_t offset = *at - axis.shift;
                load.offsets.push_back(offset);
                s.below[k] = std::max(s.below[k], -offset);
                s.above[k] = std::max(s.above[k], offset);
            }
            if (std::ranges::find(s.stored, e.var) != s.stored.end() && !load.is_own()) {
                refuse("a nest reads neighbours of the elements of " + quoted(*e.var) +
                       " that it writes");
                return;
            }
            s.loads.push_back(std::move(load));
        };
        for_each_expr(*s.body, look);
        return reason_.empty();
    }

    // Whether steps assign scalars before reading them, and scalars of a nest stay in it.
    bool scalars() {
        for (Var* var : exposed_reads(time_.body)) {
            if (uses_.written.contains(var))
                return refuse("the scalar " + quoted(*var) + " goes from step to step");
        }
        for (const StencilSweep& s : result_.sweeps) {
            const VarSet exposed = exposed_reads(*s.body);
            for (const Stmt* stmt : *s.body) {
                const auto* assign = stmt->as<Assign>();
                if (assign == nullptr) continue;
                bool elsewhere = exposed.contains(assign->var);
                for (const Stmt* other : time_.body) {
                    if (other == s.top) continue;
                    elsewhere = elsewhere || uses_of(*other).read.contains(assign->var) ||
                                uses_of(*other).written.contains(assign->var);
                }
                if (elsewhere)
                    return refuse("the scalar " + quoted(*assign->var) +
                                  " goes from iteration to iteration");
            }
        }
        return true;
    }

    bool arrays() {
        for (Var* array : uses_.stored) {
            if (array->dims.size() != result_.rank)
                return refuse("its arrays have different numbers of dimensions");
            if (!is_injective(*array))
                return refuse("elements of " + quoted(*array) + " share memory");
            for (Var* other : uses_.stored) {
                if (array != other && may_share(*array, *other))
                    return refuse(quoted(*array) + " and " + quoted(*other) + " may share memory");
            }
            for (Var* other : uses_.loaded) {
                if (array != other && may_share(*array, *other))
                    return refuse(quoted(*array) + " and " + quoted(*other) + " may share memory");
            }
            StencilArray entry{array, 0, false};
            int writer = -1;
            for (std::size_t i = 0; i < result_.sweeps.size(); ++i) {
                if (std::ranges::find(result_.sweeps[i].stored, array) ==
                    result_.sweeps[i].stored.end())
                    continue;
                ++entry.sweeps;
                writer = static_cast<int>(i);
            }
            entry.carried = entry.sweeps > 1;
            for (std::size_t i = 0; i < result_.sweeps.size(); ++i) {
                const StencilSweep& s = result_.sweeps[i];
                const bool reads = std::ranges::any_of(
                    s.loads, [&](const StencilLoad& l) { return l.load->var == array; });
                if (reads && static_cast<int>(i) <= writer) entry.carried = true;
            }
            for_each_stmt(time_.body, [&](const Stmt& stmt) {
                const auto* store = stmt.as<Store>();
                if (store != nullptr && store->array == array && store->update)
                    entry.carried = true;
            });
            result_.arrays.push_back(entry);
        }
        return std::ranges::any_of(result_.arrays, &StencilArray::carried) ||
               refuse("no step reads an element that another one wrote");
    }

    For& time_;
    const Uses uses_;
    Stencil result_;
    bool near_ = false;
    std::string reason_;
};

void walk(Body& body, Stencils& out) {
    for (Stmt* stmt : body) {
        if (stmt->kind == StmtKind::kGpu) continue;
        auto* loop = stmt->as<For>();
        if (loop != nullptr) {
            if (loop->mapping.level != Level::kSequential || loop->mapping.parallel()) continue;
            Matcher matcher(*loop);
            if (auto found = matcher.run()) {
                out.found.push_back(std::move(*found));
                continue;
            }
            if (matcher.near()) out.missed.push_back({loop, matcher.reason()});
        }
        for_each_body(*stmt, [&](Body& inner) { walk(inner, out); });
    }
}

}  // namespace

Stencils find_stencils(Function& entry) {
    Stencils result;
    walk(entry.body, result);
    return result;
}

}  // namespace parpy
