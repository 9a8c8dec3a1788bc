// See jams.h. Apart from kept elements, the sequential loops load only arrays that the nest does
// not store. So their statements may run twice for one iteration, as happens if the number of
// iterations is not divisible.
#include "analysis/jams.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostTogether = 32;
constexpr std::int64_t kMostBytes = 512;       // of scalars, in registers
constexpr std::int64_t kMostOperators = 4096;  // of all iterations written out

class Jamming {
public:
    explicit Jamming(const std::vector<For*>& nest)
        : nest_(nest), body_(nest.back()->body), uses_(uses_of(body_)) {
        for (const For* loop : nest)
            counters_.insert(loop->var);
        for_each_stmt(body_, [&](const Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) assigned_.insert(assign->var);
        });
    }

    std::optional<Jam> run() {
        if (uses_.calls || !exposed_to_none() || overlaps()) return std::nullopt;
        for (Stmt* stmt : body_) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr) keep_elements(*loop);
        }
        const auto fits = [&](const Stmt* stmt) {
            const auto* loop = stmt->as<For>();
            return loop != nullptr ? sequential(*loop) : straight(*stmt, true);
        };
        if (!std::ranges::all_of(body_, fits)) return std::nullopt;
        jam_.most = most();
        for (const For* loop : nest_)
            jam_.shares.push_back(shares(loop->var));
        return any_loop_ ? std::optional(jam_) : std::nullopt;
    }

private:
    // Whether each iteration assigns its scalars before it reads them.
    [[nodiscard]] bool exposed_to_none() const {
        const VarSet exposed = exposed_reads(body_);
        return std::ranges::none_of(exposed, [&](const Var* v) { return assigned_.contains(v); });
    }

    // Whether a stored array may share memory with another array, or overlap itself.
    [[nodiscard]] bool overlaps() const {
        return std::ranges::any_of(uses_.stored, [&](const Var* v) {
            const auto others = [&](const Var* other) {
                return other != v && may_share(*v, *other);
            };
            return !is_injective(*v) || std::ranges::any_of(uses_.stored, others) ||
                   std::ranges::any_of(uses_.loaded, others);
        });
    }

    // ------------------------------------------------------------ elements that are kept

    // Finds the elements that a loop directly in the nest keeps.
    void keep_elements(For& loop) {
        for (const Var* array : uses_of(loop).stored) {
            const Store* store = sure_store(loop, array);
            if (store == nullptr || store->atomic || !fixed(*store, loop)) continue;
            bool alone = true;
            for_each_stmt(loop.body, [&](const Stmt& stmt) {
                const auto* other = stmt.as<Store>();
                if (other != nullptr && other->array == array)
                    alone = alone && !other->atomic && same(other->indices, store->indices);
            });
            for_each_expr(loop.body, [&](const Expr& e) {
                if (e.var == array && e.op != Op::kExtent)
                    alone = alone && e.op == Op::kLoad && same(e.operands, store->indices);
            });
            if (alone) jam_.elements.push_back({&loop, store->array, store->indices});
        }
    }

    // A store to `array` that runs whenever `loop` is reached; null if there is none.
    static const Store* sure_store(const For& loop, const Var* array) {
        if (constant_trip_count(loop).value_or(0) < 1) return nullptr;
        for (const Stmt* stmt : loop.body) {
            const auto* store = stmt->as<Store>();
            if (store != nullptr && store->array == array) return store;
            const auto* inner = stmt->as<For>();
            const Store* found = inner != nullptr ? sure_store(*inner, array) : nullptr;
            if (found != nullptr) return found;
        }
        return nullptr;
    }

    // Whether the store's element is the same all through the loop and the statements around it.
    [[nodiscard]] bool fixed(const Store& store, const For& loop) const {
        const Uses inside = uses_of(loop);
        return std::ranges::all_of(store.indices, [&](const Expr* index) {
            const Uses uses = uses_of(*index);
            return uses.loaded.empty() && !has_effects(*index) &&
                   std::ranges::none_of(uses.read, [&](const Var* v) {
                       return inside.written.contains(v) || assigned_.contains(v);
                   });
        });
    }

    [[nodiscard]] bool kept(const For* top, const Var* array) const {
        return std::ranges::any_of(jam_.elements, [&](const KeptElement& element) {
            return element.loop == top && element.array == array;
        });
    }

    // ------------------------------------------------------------ statements

    // Whether the statement is an assignment, a store or a condition, without loops and effects.
    bool straight(const Stmt& stmt, bool stores) const {
        const bool known = stmt.kind == StmtKind::kAssign || stmt.kind == StmtKind::kIf ||
                           (stmt.kind == StmtKind::kStore && stores && !stmt.as<Store>()->atomic);
        bool result = known;
        for_each_slot(stmt, [&](const Expr* slot) { result = result && !has_effects(*slot); });
        for_each_body(stmt, [&](const Body& body) {
            for (const Stmt* inner : body)
                result = result && straight(*inner, stores);
        });
        return result;
    }

    bool sequential(const For& top) { return sequential(top, top); }

    bool sequential(const For& loop, const For& top) {
        any_loop_ = true;
        if (loop.mapping.parallel() || !same_for_all(*loop.begin) || !same_for_all(*loop.end) ||
            !same_for_all(*loop.step)) {
            return false;
        }
        return std::ranges::all_of(loop.body, [&](const Stmt* stmt) {
            if (const auto* inner = stmt->as<For>()) return sequential(*inner, top);
            const auto* store = stmt->as<Store>();
            const bool keeps = store != nullptr && kept(&top, store->array);
            return straight(*stmt, keeps) && loads_fit(*stmt, top);
        });
    }

    // Whether it loads no array that the nest stores, except kept elements.
    bool loads_fit(const Stmt& stmt, const For& top) const {
        return !any_expr(stmt, [&](const Expr& e) {
            return e.op == Op::kLoad && uses_.stored.contains(e.var) && !kept(&top, e.var);
        });
    }

    // Whether the expression has one value in all iterations of the nest.
    [[nodiscard]] bool same_for_all(const Expr& e) const {
        const Uses uses = uses_of(e);
        return !has_effects(e) && std::ranges::none_of(uses.read, [&](const Var* v) {
            return counters_.contains(v) || assigned_.contains(v);
        }) && std::ranges::none_of(uses.loaded, [&](const Var* v) {
            return uses_.stored.contains(v);
        });
    }

    // ------------------------------------------------------------ costs and gains

    [[nodiscard]] std::int64_t most() const {
        std::int64_t bytes = 0, operators = 1;
        for (const Var* scalar : assigned_)
            bytes += size_in_bytes(scalar->type.scalar);
        for (const KeptElement& element : jam_.elements)
            bytes += size_in_bytes(element.array->type.scalar);
        for_each_expr(body_, [&](const Expr&) { ++operators; });
        return std::min({kMostTogether, kMostBytes / std::max<std::int64_t>(bytes, 1),
                         kMostOperators / operators});
    }

    // Whether some load in a sequential loop is invariant in `counter`.
    [[nodiscard]] bool shares(const Var* counter) const {
        bool found = false;
        for (const Stmt* stmt : body_) {
            if (stmt->kind != StmtKind::kFor) continue;
            for_each_expr(*stmt, [&](const Expr& e) {
                if (e.op != Op::kLoad || kept(stmt->as<For>(), e.var)) return;
                const Uses uses = uses_of(e);
                found = found || std::ranges::none_of(uses.read, [&](const Var* v) {
                            return v == counter || assigned_.contains(v);
                        });
            });
        }
        return found;
    }

    const std::vector<For*>& nest_;
    Body& body_;
    const Uses uses_;
    VarSet counters_, assigned_;
    Jam jam_;
    bool any_loop_ = false;
};

}  // namespace

std::optional<Jam> jam_of(const std::vector<For*>& nest) {
    return Jamming(nest).run();
}

}  // namespace parpy
