// See promote_elements.h. Sibling loops that give a thread the same iterations are a family. An
// element of one array, with one subscript, is followed through the members of a family in program
// order. A run is a sequence of statements in which a thread's copy always agrees with memory:
//
//   - the array overlaps no other;
//   - if the kernel stores to the array, only members in the sequence access it, and they access
//     that element alone. Its subscript distinguishes the iterations, so it belongs to one thread
//     of the block, and other blocks do not access elements that a block stores: their loops are
//     parallel;
//   - the operands of the subscript do not change;
//   - the sequence is straight-line code, and does not wait for other blocks.
//
// The copy of a run is valid from the first access that every iteration makes.
#include "passes/cuda/promote_elements.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostTrips = 32;
constexpr std::int64_t kMostBytes = 256;          // of copies in one thread
constexpr std::int64_t kRegisterBytes = 1 << 18;  // of a multiprocessor; copies get half of them
constexpr std::int64_t kMostOperators = 4096;     // of a loop once it is unrolled

// A loop over begin + thread.x * step / threads, the same plus step, …
struct ThreadLoop {
    For* loop = nullptr;
    std::size_t place = 0;   // in its body
    std::int64_t trips = 0;  // of the first thread
    bool tail = false;       // some threads have one iteration less
};

struct Element {
    Var* array = nullptr;
    std::vector<Expr*> indices;  // own copies
    Var* variable = nullptr;     // the loop's variable in `indices`
};

// A statement of a member's body: number of the member in its run, number of the statement.
using Place = std::pair<std::size_t, std::size_t>;

struct Run {
    Element element;
    std::vector<const ThreadLoop*> members;
    Place valid{};                    // the statement from which on the copy is valid
    std::optional<Place> last_store;  // the last store that every iteration makes
    Place last_load{};
    Var* kept = nullptr;  // the copies of the thread, by trip
};

bool leaves_or_waits(const Stmt& stmt) {
    const auto waits = [](const Stmt& inner) {
        const auto* barrier = inner.as<Barrier>();
        return barrier != nullptr && barrier->scope != BarrierScope::kWarp &&
               barrier->scope != BarrierScope::kBlock;
    };
    return contains_jump(stmt) || any_stmt(stmt, waits) ||
           any_expr(stmt, [](const Expr& e) { return e.op == Op::kAtomic; });
}

// Whether it can be unrolled: its only control flow is conditions, and it is not too large.
bool is_plain(const ThreadLoop& candidate) {
    bool plain = true;
    std::int64_t operators = 0;
    for (const Stmt* stmt : candidate.loop->body) {
        for_each_stmt(*stmt, [&](const Stmt& inner) {
            plain = plain && (inner.kind == StmtKind::kAssign || inner.kind == StmtKind::kStore ||
                              inner.kind == StmtKind::kIf || inner.kind == StmtKind::kEvaluate);
            ++operators;
        });
        for_each_expr(*stmt, [&](const Expr&) { ++operators; });
    }
    return plain && operators * candidate.trips <= kMostOperators;
}

// Calls fn(e) for every expression that is evaluated whenever `root` is.
template <class F>
void for_each_certain(const Expr& root, F&& fn) {
    fn(root);
    const bool lazy = root.op == Op::kSelect || root.op == Op::kAnd || root.op == Op::kOr;
    const std::size_t count = lazy ? 1 : root.operands.size();
    for (std::size_t i = 0; i < count; ++i)
        for_each_certain(*root.operands[i], fn);
}

class KernelElements {
public:
    KernelElements(Module& module, Launch& launch)
        : builder_(module),
          module_(module),
          kernel_(*launch.kernel),
          uses_(uses_of(kernel_.body)),
          block_(block_extent(launch, 0)),
          budget_(std::min(kMostBytes, kRegisterBytes / 2 / block_size(launch).value_or(1))) {}

    // Kernels written by hand are not changed.
    void run() {
        if (block_) walk(kernel_.body);
    }

private:
    void walk(Body& body) {
        for (Stmt* stmt : body)
            for_each_body(*stmt, [&](Body& inner) { walk(inner); });
        std::vector<ThreadLoop> loops;
        for (std::size_t i = 0; i < body.size(); ++i) {
            if (auto loop = thread_loop(body[i], i); loop && is_plain(*loop)) {
                loops.push_back(*loop);
            }
        }
        std::map<std::size_t, Body> allocations;  // by the statement that they precede
        while (!loops.empty()) {
            std::vector<ThreadLoop> family;
            const For& head = *loops.front().loop;
            std::erase_if(loops, [&](const ThreadLoop& other) {
                const bool related = same(*other.loop->begin, *head.begin) &&
                                     same(*other.loop->end, *head.end) &&
                                     same(*other.loop->step, *head.step);
                if (related) family.push_back(other);
                return related;
            });
            promote(body, family, allocations);
        }
        for (auto it = allocations.rbegin(); it != allocations.rend(); ++it) {
            body.insert(body.begin() + static_cast<std::ptrdiff_t>(it->first), it->second.begin(),
                        it->second.end());
        }
    }

    // ------------------------------------------------------------ thread loops

    // Recognises loops that legalize_cuda_loops made, with bounds that are constant but for the
    // thread.
    std::optional<ThreadLoop> thread_loop(Stmt* stmt, std::size_t place) const {
        auto* loop = stmt->as<For>();
        if (loop == nullptr) return std::nullopt;
        const auto end = constant_integer(loop->end);
        const auto step = constant_integer(loop->step);
        const Expr* first = loop->begin;
        std::int64_t begin = 0;
        std::int64_t stride = 1;
        if (first->op == Op::kAdd) {
            const auto base = constant_integer(first->operands[0]);
            if (!base) return std::nullopt;
            begin = *base;
            first = first->operands[1];
        }
        if (first->op == Op::kMul) {
            const auto factor = constant_integer(first->operands[1]);
            if (!factor) return std::nullopt;
            stride = *factor;
            first = first->operands[0];
        }
        if (first->op == Op::kConvert) first = first->operands[0];
        const bool of_threads = first->op == Op::kRegister && first->reg == Register::kThreadX;
        if (!of_threads || !end || !step || *step != stride * *block_) return std::nullopt;
        const auto iterations = constant_trip_count(begin, *end, stride);
        const auto trips = constant_trip_count(begin, *end, *step);
        if (!iterations || !trips || *trips < 1 || *trips > kMostTrips) return std::nullopt;
        return ThreadLoop{loop, place, *trips, *iterations % *block_ != 0};
    }

    // ------------------------------------------------------------ elements

    bool is_element(const Var* array, const std::vector<Expr*>& indices, const For& loop,
                    const Element& element) const {
        if (array != element.array) return false;
        Substitution substitution;
        substitution.vars[loop.var] = element.variable;
        for (std::size_t i = 0; i < indices.size(); ++i) {
            if (!same(*clone(module_, indices[i], substitution), *element.indices[i])) return false;
        }
        return true;
    }
    bool is_load(const Expr& e, const For& loop, const Element& element) const {
        return e.op == Op::kLoad && !is_row(e) && is_element(e.var, e.operands, loop, element);
    }
    bool is_store(const Stmt& stmt, const For& loop, const Element& element) const {
        const auto* store = stmt.as<Store>();
        return store != nullptr && !store->atomic &&
               is_element(store->array, store->indices, loop, element);
    }

    // Whether a thread could keep copies of this element at all.
    bool keepable(const Element& element) const {
        if (element.array->space != Space::kGlobal || overlaps(*element.array)) return false;
        bool owned = !uses_.stored.contains(element.array);
        for (const Expr* index : element.indices) {
            bool plain = true;
            for_each_expr(*index, [&](const Expr& e) {
                plain = plain && e.op != Op::kLoad && !has_effects(e.op);
            });
            if (!plain) return false;
            owned = owned || constant_offset(*index, *element.variable).has_value();
        }
        return owned;
    }

    // Whether the array shares memory with another one of the kernel, or its elements overlap.
    bool overlaps(const Var& array) const {
        const auto shares = [&](const Var* other) {
            return other != &array && may_share(array, *other);
        };
        return !is_injective(array) || std::ranges::any_of(kernel_.params, shares);
    }

    std::vector<Element> elements_of(const std::vector<ThreadLoop>& family) const {
        std::vector<Element> elements;
        const auto add = [&](Var* array, const std::vector<Expr*>& indices, const For& loop) {
            const bool known = std::any_of(
                elements.begin(), elements.end(),
                [&](const Element& element) { return is_element(array, indices, loop, element); });
            if (known) return;
            Element& element = elements.emplace_back(Element{array, {}, loop.var});
            for (const Expr* index : indices)
                element.indices.push_back(clone(module_, index));
        };
        for (const ThreadLoop& member : family) {
            const For& loop = *member.loop;
            for_each_stmt(loop.body, [&](const Stmt& stmt) {
                for_each_slot(stmt, [&](const Expr* slot) {
                    for_each_expr(*slot, [&](const Expr& e) {
                        if (e.op == Op::kLoad && !is_row(e)) add(e.var, e.operands, loop);
                    });
                });
                if (const auto* store = stmt.as<Store>()) add(store->array, store->indices, loop);
            });
        }
        std::erase_if(elements, [&](const Element& element) { return !keepable(element); });
        return elements;
    }

    // ------------------------------------------------------------ runs

    struct Touches {
        bool it = false;      // the element
        bool others = false;  // its array in another way
    };

    Touches touches(const For& loop, const Element& element) const {
        Touches found;
        const auto array = [&](const Var* var, bool is_it) {
            if (var != element.array) return;
            (is_it ? found.it : found.others) = true;
        };
        for_each_stmt(loop.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) {
                array(store->array, is_store(stmt, loop, element));
            }
        });
        for_each_expr(loop.body, [&](const Expr& e) {
            if (e.var != nullptr && e.var->type.is_array() && e.op != Op::kExtent) {
                array(e.var, is_load(e, loop, element));
            }
        });
        return found;
    }

    std::vector<Run> runs_of(const Body& body, const std::vector<ThreadLoop>& family,
                             const Element& element) const {
        std::vector<Run> runs;
        Run run;
        run.element = element;
        const auto close = [&] {
            if (run.members.size() > 1 && plan(run)) runs.push_back(run);
            run = Run{};
            run.element = element;
        };
        const bool stored = uses_.stored.contains(element.array);
        VarSet fixed;  // operands of the subscript but the loop's variable
        for (const Expr* index : element.indices)
            fixed.insert(uses_of(*index).read);
        fixed.erase(element.variable);
        for (std::size_t i = family.front().place; i <= family.back().place; ++i) {
            const auto member = std::find_if(family.begin(), family.end(),
                                             [&](const ThreadLoop& m) { return m.place == i; });
            const Uses uses = uses_of(*body[i]);
            const bool moves = std::any_of(fixed.begin(), fixed.end(),
                                           [&](const Var* v) { return uses.written.contains(v); });
            if (moves || leaves_or_waits(*body[i])) {
                close();
            } else if (member == family.end()) {
                if (stored && uses.touches(element.array)) close();
            } else {
                const Touches found = touches(*member->loop, element);
                if (stored && found.others) {
                    close();
                } else if (found.it) {
                    run.members.push_back(&*member);
                }
            }
        }
        close();
        return runs;
    }

    // Finds the places of a run; false if a copy would not help.
    bool plan(Run& run) const {
        std::optional<Place> valid;
        for (std::size_t m = 0; m < run.members.size(); ++m) {
            const For& loop = *run.members[m]->loop;
            for (std::size_t s = 0; s < loop.body.size(); ++s) {
                const Stmt& stmt = *loop.body[s];
                const bool stores = is_store(stmt, loop, run.element);
                if (!valid && (stores || certain_load(stmt, loop, run.element) != nullptr)) {
                    valid = Place{m, s};
                }
                if (!valid) continue;
                if (stores) run.last_store = Place{m, s};
                for_each_expr(stmt, [&](const Expr& e) {
                    if (is_load(e, loop, run.element)) run.last_load = Place{m, s};
                });
            }
        }
        if (!valid) return false;
        run.valid = *valid;
        return run.last_load.first > run.valid.first;
    }

    // A load of the element that happens whenever `stmt` runs.
    const Expr* certain_load(const Stmt& stmt, const For& loop, const Element& element) const {
        const Expr* found = nullptr;
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_certain(*slot, [&](const Expr& e) {
                if (is_load(e, loop, element)) found = &e;
            });
        });
        return found;
    }

    // ------------------------------------------------------------ rewriting

    void promote(const Body& body, const std::vector<ThreadLoop>& family,
                 std::map<std::size_t, Body>& allocations) {
        std::vector<Run> chosen;
        for (const Element& element : elements_of(family)) {
            for (Run& run : runs_of(body, family, element)) {
                const std::int64_t bytes =
                    run.members[0]->trips * size_in_bytes(element.array->type.scalar);
                if (bytes > budget_) continue;
                budget_ -= bytes;
                chosen.push_back(std::move(run));
            }
        }
        for (Run& run : chosen) {
            const ThreadLoop& first = *run.members.front();
            builder_.span = first.loop->span;
            run.kept =
                builder_.local_array(run.element.array->name + "_kept",
                                     run.element.array->type.scalar, {first.trips}, Space::kLocal);
            allocations[first.place].push_back(builder_.alloc(run.kept));
        }
        for (const ThreadLoop& member : family) {
            std::vector<Kept> copies;
            for (const Run& run : chosen) {
                const auto found = std::find(run.members.begin(), run.members.end(), &member);
                if (found == run.members.end()) continue;
                copies.push_back({&run, static_cast<std::size_t>(found - run.members.begin())});
            }
            if (!copies.empty()) write_out(member, copies);
        }
    }

    // A run, and the number of one of its members.
    struct Kept {
        const Run* run;
        std::size_t member;
    };

    void write_out(const ThreadLoop& member, const std::vector<Kept>& copies) {
        For& loop = *member.loop;
        builder_.span = loop.span;
        const Scalar type = loop.var->type.scalar;
        Var* counter = builder_.scalar("q", type);
        Body body;
        for (std::size_t s = 0; s < loop.body.size(); ++s)
            rewrite_stmt(loop.body[s], s, loop, copies, counter, body);

        builder_.span = loop.span;
        Var* index = builder_.scalar(loop.var->name, type);
        rename(body, loop.var, index);
        Expr* distance = builder_.binary(Op::kMul, builder_.var(counter), loop.step);
        Stmt* set = builder_.assign(index, builder_.binary(Op::kAdd, loop.begin, distance));
        if (member.tail) {
            const Op inside = *constant_integer(loop.step) > 0 ? Op::kLt : Op::kGt;
            Expr* guard = builder_.binary(inside, builder_.var(index), loop.end);
            loop.body = {set, builder_.if_(guard, std::move(body))};
        } else {
            body.insert(body.begin(), set);
            loop.body = std::move(body);
        }
        loop.var = counter;
        loop.begin = builder_.integer(0, type);
        loop.end = builder_.integer(member.trips, type);
        loop.step = builder_.integer(1, type);
        loop.mapping.unroll = true;
    }

    // Renames the variable, as loops of a family may share one.
    static void rename(Body& body, const Var* from, Var* to) {
        for_each_stmt(body, [&](Stmt& stmt) {
            for_each_var(stmt, [&](Var*& var) { var = var == from ? to : var; });
        });
        for_each_expr(body, [&](Expr& e) { e.var = e.var == from ? to : e.var; });
    }

    // Rewrites statement `s` of a member.
    void rewrite_stmt(Stmt* stmt, std::size_t s, const For& loop, const std::vector<Kept>& copies,
                      Var* counter, Body& out) {
        builder_.span = stmt->span;
        for (const auto& [run, member] : copies) {
            const Place place{member, s};
            if (place < run->valid) continue;
            const Element& element = run->element;
            if (place == run->valid) {
                const Expr* load = certain_load(*stmt, loop, element);
                if (load == nullptr) continue;  // the statement stores the element
                out.push_back(
                    builder_.store(run->kept, {builder_.var(counter)}, clone(module_, load)));
            }
            for_each_stmt(*stmt, [&](Stmt& inner) {
                rewrite_slots(inner, [&](Expr* e) {
                    if (!is_load(*e, loop, element)) return e;
                    return builder_.load(run->kept, {builder_.var(counter)});
                });
            });
        }
        rewrite_stores(stmt, s, false, loop, copies, counter, out);
    }

    void rewrite_stores(Stmt* stmt, std::size_t s, bool nested, const For& loop,
                        const std::vector<Kept>& copies, Var* counter, Body& out) {
        for_each_body(*stmt, [&](Body& body) {
            Body inner;
            for (Stmt* each : body)
                rewrite_stores(each, s, true, loop, copies, counter, inner);
            body = std::move(inner);
        });
        for (const auto& [run, member] : copies) {
            const Place place{member, s};
            if (place < run->valid || !is_store(*stmt, loop, run->element)) continue;
            auto& store = *stmt->as<Store>();
            const bool overwritten = run->last_store && place < *run->last_store;
            const bool wanted = nested ? place <= run->last_load : place < run->last_load;
            if (!overwritten && !wanted) continue;
            builder_.span = stmt->span;
            out.push_back(builder_.store(run->kept, {builder_.var(counter)}, store.value));
            if (overwritten) return;
            store.value = builder_.load(run->kept, {builder_.var(counter)});
        }
        out.push_back(stmt);
    }

    Builder builder_;
    Module& module_;
    Function& kernel_;
    const Uses uses_;
    const std::optional<std::int64_t> block_;  // threads in x; nothing: a kernel written by hand
    std::int64_t budget_;  // bytes of copies that the kernel's threads may still keep
};

// Removes scratch arrays that no kernel loads, since copies replace all their elements, and the
// stores to them.
class UnreadScratch {
public:
    explicit UnreadScratch(Function& entry) : entry_(entry) {}

    void run() {
        for_each_stmt(entry_.body, [&](Stmt& stmt) {
            const auto* made = stmt.as<Alloc>();
            if (made != nullptr && made->array->space == Space::kScratch)
                unread_.insert(made->array);
        });
        if (unread_.empty()) return;
        for_each_stmt(entry_.body, [&](Stmt& stmt) { look(stmt); });
        if (unread_.empty()) return;
        for_each_stmt(entry_.body, [&](Stmt& stmt) {
            if (auto* launch = stmt.as<Launch>()) drop(*launch);
        });
        rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
            const auto* made = stmt->as<Alloc>();
            if (made == nullptr || !unread_.contains(made->array)) out.push_back(stmt);
        });
    }

private:
    void look(Stmt& stmt) {
        const auto* launch = stmt.as<Launch>();
        if (launch == nullptr) {
            read_in(stmt, {});
            return;
        }
        std::unordered_map<const Var*, const Var*> arrays;
        for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
            const Expr& argument = *launch->arguments[i];
            if (argument.op == Op::kArray) arrays.emplace(launch->kernel->params[i], argument.var);
        }
        for_each_stmt(launch->kernel->body, [&](Stmt& inner) { read_in(inner, arrays); });
    }

    // Marks arrays as read, except by stores whose operands have no effects.
    void read_in(Stmt& stmt, const std::unordered_map<const Var*, const Var*>& arrays) {
        const auto read = [&](const Var* var) {
            const auto found = arrays.find(var);
            unread_.erase(found == arrays.end() ? var : found->second);
        };
        const auto* store = stmt.as<Store>();
        const bool plain =
            store != nullptr && !has_effects(*store->value) &&
            std::ranges::none_of(store->indices, [](const Expr* e) { return has_effects(*e); });
        if (!plain && stmt.kind != StmtKind::kAlloc)
            for_each_var(stmt, [&](const Var* var) { read(var); });
        for_each_slot(
            stmt, [&](Expr*& slot) { for_each_expr(*slot, [&](const Expr& e) { read(e.var); }); });
    }

    void drop(Launch& launch) {
        std::vector<Var*>& params = launch.kernel->params;
        std::unordered_set<const Var*> dropped;
        for (std::size_t i = launch.arguments.size(); i-- > 0;) {
            const Expr& argument = *launch.arguments[i];
            if (argument.op != Op::kArray || !unread_.contains(argument.var)) continue;
            const auto place = static_cast<std::ptrdiff_t>(i);
            dropped.insert(params[i]);
            params.erase(params.begin() + place);
            launch.arguments.erase(launch.arguments.begin() + place);
        }
        if (dropped.empty()) return;
        rewrite_stmts(launch.kernel->body, [&](Stmt* stmt, Body& out) {
            const auto* store = stmt->as<Store>();
            if (store == nullptr || !dropped.contains(store->array)) out.push_back(stmt);
        });
    }

    Function& entry_;
    std::unordered_set<const Var*> unread_;
};

}  // namespace

void promote_elements(PassContext& context) {
    Function& entry = *context.module.entry_function();
    // Kernels are specialised for their launch, which must be the only one.
    std::unordered_set<const Function*> launched;
    for_each_stmt(entry.body, [&](Stmt& stmt) {
        const auto* launch = stmt.as<Launch>();
        if (launch != nullptr && !launched.insert(launch->kernel).second) {
            context.diagnostics.internal(
                stmt.span, "kernel '" + launch->kernel->name + "' is launched by two statements");
        }
    });
    if (context.diagnostics.has_errors()) return;
    for_each_stmt(entry.body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) KernelElements(context.module, *launch).run();
    });
    UnreadScratch(entry).run();
}

}  // namespace parpy
