// See contract_arrays.h.
#include "passes/nests/contract_arrays.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/nests/own_arrays.h"

namespace parpy {

using namespace ir;

namespace {

// The only store of an array, which precedes all of its loads.
struct Place {
    Body* body = nullptr;
    std::size_t index = 0;
    Store* store = nullptr;
};

bool is_own(const Var& array) {
    return array.space == Space::kScratch || array.space == Space::kLocal;
}

void find_stores(Body& body, const Var& array, std::vector<Place>& found) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        auto* store = body[i]->as<Store>();
        if (store != nullptr && store->array == &array) found.push_back({&body, i, store});
        for_each_body(*body[i], [&](Body& inner) { find_stores(inner, array, found); });
    }
}

std::optional<Place> place_of(Function& function, const Var& array) {
    std::vector<Place> stores;
    find_stores(function.body, array, stores);
    if (stores.size() != 1 || !is_plain(*stores[0].store)) return std::nullopt;
    const Place& place = stores[0];
    std::size_t uses = 0, behind = 0;
    for_each_expr(function.body, [&](const Expr& e) { uses += e.var == &array; });
    VarSet written;
    for (std::size_t i = place.index + 1; i < place.body->size(); ++i) {
        for_each_expr(*(*place.body)[i], [&](const Expr& e) {
            behind +=
                e.op == Op::kLoad && e.var == &array && same(e.operands, place.store->indices);
        });
        written.insert(uses_of(*(*place.body)[i]).written);
    }
    if (uses != behind) return std::nullopt;
    for (const Expr* index : place.store->indices) {
        const Uses read = uses_of(*index);
        const bool settled =
            read.loaded.empty() && !read.calls &&
            std::ranges::none_of(read.read, [&](Var* var) { return written.contains(var); });
        if (!settled) return std::nullopt;
    }
    return place;
}

void contract(Module& module, const Place& place) {
    Store& store = *place.store;
    const Var& array = *store.array;
    Var* value = scalar_like(module, store);
    Body& body = *place.body;
    Body behind(body.begin() + static_cast<std::ptrdiff_t>(place.index) + 1, body.end());
    rewrite(behind, [&](Expr* e) {
        const bool load = e->op == Op::kLoad && e->var == &array;
        return load ? Builder(module, e->span).var(value) : e;
    });
    body[place.index] = Builder(module, store.span).assign(value, store.value);
}

}  // namespace

bool is_contracted(Function& function, const Var& array) {
    return is_own(array) && place_of(function, array).has_value();
}

void contract_arrays(PassContext& context) {
    Function& entry = *context.module.entry_function();
    std::vector<Var*> own;
    for_each_stmt(entry.body, [&](const Stmt& stmt) {
        const auto* alloc = stmt.as<Alloc>();
        if (alloc != nullptr && is_own(*alloc->array)) own.push_back(alloc->array);
    });
    std::unordered_set<const Var*> gone;
    for (const Var* array : own) {
        const auto place = place_of(entry, *array);
        if (!place) continue;
        contract(context.module, *place);
        gone.insert(array);
    }
    if (gone.empty()) return;
    rewrite_stmts(entry.body, [&](Stmt* stmt, Body& out) {
        const auto* alloc = stmt->as<Alloc>();
        if (alloc == nullptr || !gone.contains(alloc->array)) out.push_back(stmt);
    });
}

}  // namespace parpy
