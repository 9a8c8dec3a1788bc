// See accumulations.h.
#include "analysis/accumulations.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// The subscripts of an element: the value of each constant one, and nothing for any other. The
// place of a scalar is empty.
using Place = std::vector<std::optional<std::int64_t>>;

Place place_of(const std::vector<Expr*>* indices) {
    Place place;
    if (indices == nullptr) return place;
    for (const Expr* index : *indices)
        place.push_back(constant_integer(index));
    return place;
}

bool distinct(const Place& a, const Place& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] && b[i] && a[i] != b[i]) return true;
    }
    return false;
}

// Counts how often a loop uses a scalar or the elements at a place, and how often its updates do.
struct Touches {
    int all = 0, by_updates = 0;
    std::optional<Op> op;
    bool mixed = false;  // updated by several operators

    void add(const Touches& other) {
        all += other.all;
        by_updates += other.by_updates;
        mixed = mixed || other.mixed || (op && other.op && op != other.op);
        if (!op) op = other.op;
    }
    [[nodiscard]] bool only_accumulates() const { return all == by_updates && !mixed; }
};

class Accumulations {
public:
    explicit Accumulations(Stmt& loop) {
        for_each_body(loop, [&](Body& body) { find(body); });
        count(loop);
        varying_ = uses_of(loop);
        for_each_body(loop, [&](Body& body) {
            for_each_stmt(body, [&](const Stmt& stmt) {
                if (const auto* inner = stmt.as<For>()) varying_.written.erase(inner->var);
            });
        });
    }

    std::vector<Update> run() && {
        std::erase_if(updates_, [&](const Update& update) {
            if (!touches_of(update).only_accumulates()) return true;
            return update.indices != nullptr &&
                   !std::ranges::all_of(*update.indices, [&](const Expr* index) {
                       return invariant(*index, varying_);
                   });
        });
        return std::move(updates_);
    }

private:
    void find(Body& body) {
        for (Stmt*& slot : body) {
            std::optional<Update> update = match_update(*slot);
            if (!update) update = match_chain(*slot);
            if (!update) {
                for_each_body(*slot, [&](Body& inner) { find(inner); });
                continue;
            }
            update->slot = &slot;
            touches_[update->var][place_of(update->indices)].add(
                {0, update->reads + 1, reduction_of(update->update, update->value->type)});
            updates_.push_back(*update);
        }
    }

    void count(const Stmt& loop) {
        const auto touch = [&](const Var* var, const std::vector<Expr*>* indices) {
            ++touches_[var][place_of(indices)].all;
        };
        for_each_expr(loop, [&](const Expr& e) {
            if (e.var == nullptr || e.op == Op::kExtent) return;
            touch(e.var, e.op == Op::kLoad ? &e.operands : nullptr);
        });
        for_each_stmt(loop, [&](const Stmt& stmt) {
            if (const auto* assign = stmt.as<Assign>()) touch(assign->var, nullptr);
            if (const auto* store = stmt.as<Store>()) touch(store->array, &store->indices);
            if (const auto* inner = stmt.as<For>()) touch(inner->var, nullptr);
        });
    }

    [[nodiscard]] Touches touches_of(const Update& update) const {
        const Place place = place_of(update.indices);
        Touches sum;
        for (const auto& [other, touches] : touches_.at(update.var)) {
            if (!distinct(place, other)) sum.add(touches);
        }
        return sum;
    }

    std::unordered_map<const Var*, std::map<Place, Touches>> touches_;
    std::vector<Update> updates_;
    Uses varying_;
};

}  // namespace

std::vector<Update> accumulations_of(Stmt& loop) {
    return Accumulations(loop).run();
}

bool accumulates_in_order(For& loop) {
    if (std::ranges::any_of(accumulations_of(loop), is_ordered)) return true;
    // Other memory is irrelevant to these: the loop may read elements that share their array.
    return std::ranges::any_of(reductions_of(loop), &UpdateGroup::is_ordered);
}

}  // namespace parpy
