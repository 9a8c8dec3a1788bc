// See name_places.h.
#include "passes/values/name_places.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

NamePlaces::NamePlaces(const Function& function) {
    binds(function.body);
    if (places_.empty()) return;
    uses(function.body);
    for (const Var* name : unbound_names(function.body)) {
        places_.at(name).unbound = true;
    }
}

void NamePlaces::binds(const Body& body) {
    for (Stmt* stmt : body) {
        if (auto* bind = stmt->as<Bind>()) {
            const auto [place, is_new] = places_.try_emplace(bind->array);
            if (is_new) {
                names_.push_back(bind->array);
                place->second.body = &body;
                place->second.loops = loops_;
            }
            place->second.binds.push_back(bind);
        }
        const bool repeats = stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile;
        if (repeats) loops_.push_back(stmt);
        for_each_body(*stmt, [&](const Body& inner) { binds(inner); });
        if (repeats) loops_.pop_back();
    }
}

void NamePlaces::uses(const Body& body) {
    bound_.emplace_back();
    for (const Stmt* stmt : body) {
        for_each_slot(*stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) { use(e.var); });
        });
        if (const auto* store = stmt->as<Store>()) use(store->array);
        if (const auto* bind = stmt->as<Bind>()) {
            NamePlace& place = places_.at(bind->array);
            if (bind != place.binds.front()) {
                use(bind->array);
                place.dominated = false;
            }
            bound_.back().insert(bind->array);
        }
        for_each_body(*stmt, [&](const Body& inner) { uses(inner); });
    }
    bound_.pop_back();
}

void NamePlaces::use(const Var* array) {
    const auto found = places_.find(array);
    if (found == places_.end()) return;
    const bool behind =
        std::ranges::any_of(bound_, [&](const auto& names) { return names.contains(array); });
    NamePlace& place = found->second;
    place.led = place.led && behind;
    place.dominated = place.dominated && behind;
}

}  // namespace parpy
