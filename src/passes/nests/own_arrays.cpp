// See own_arrays.h.
#include "passes/nests/own_arrays.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

std::unordered_set<const Var*> own_arrays(const Function& function) {
    std::unordered_set<const Var*> result;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* alloc = stmt.as<Alloc>();
        const bool own = alloc != nullptr && (alloc->array->space == Space::kScratch ||
                                              alloc->array->space == Space::kLocal);
        if (own) result.insert(alloc->array);
    });
    return result;
}

bool is_plain(const Store& store) {
    return !store.update && !store.atomic && store.copied == 0 &&
           store.value->type == Type::of(store.array->type.scalar);
}

std::size_t count_stores(Function& function, const Var& array) {
    std::size_t count = 0;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        count += store != nullptr && store->array == &array;
    });
    return count;
}

bool is_mentioned(Function& function, const Var& array) {
    bool found = false;
    for_each_expr(function.body, [&](const Expr& e) { found = found || e.var == &array; });
    return found;
}

bool is_pure(const Expr& value) {
    const bool gathers = any_expr(value, [](const Expr& e) {
        return e.op == Op::kLoad && std::ranges::any_of(e.operands, [](const Expr* index) {
                   return uses_arrays(*index);
               });
    });
    return !gathers && !uses_of(value).calls && !has_effects(value);
}

std::size_t hoist_allocations(Function& entry, Body& stmts, std::size_t place) {
    const auto is_alloc = [](const Stmt* stmt) { return stmt->kind == StmtKind::kAlloc; };
    const auto first = stmts.begin() + static_cast<std::ptrdiff_t>(place);
    const auto last = std::find_if_not(first, stmts.end(), is_alloc);
    const Body allocs(first, last);
    stmts.erase(first, last);
    entry.body.insert(entry.body.begin(), allocs.begin(), allocs.end());
    return &stmts == &entry.body ? place + allocs.size() : place;
}

Var* scalar_like(Module& module, const Store& store) {
    const Var& array = *store.array;
    Var* value = module.make_var(array.name, Type::of(array.type.scalar), array.span);
    value->user_name = array.user_name;
    return value;
}

}  // namespace parpy
