// See name_changes.h.
#include "passes/values/name_changes.h"

#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

OriginalFunction::OriginalFunction(Module& module, Function& function)
    : module_(module), function_(function), sites_(module.sites.size()) {
    std::unordered_map<const Var*, int> binds;
    bool several = false;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* bind = stmt.as<Bind>();
        if (bind != nullptr) several = ++binds[bind->array] > 1 || several;
    });
    if (!several) return;
    body_ = clone(module, function.body);
    given_ = function.given;
    const auto keep = [&](Var* var) {
        if (var != nullptr && var->type.is_array()) arrays_.try_emplace(var, *var);
    };
    for_each_expr(function.body, [&](const Expr& e) { keep(e.var); });
    for_each_stmt(function.body, [&](Stmt& stmt) {
        if (auto* store = stmt.as<Store>()) keep(store->array);
        if (auto* bind = stmt.as<Bind>()) keep(bind->array);
    });
}

void OriginalFunction::restore() const {
    function_.body = clone(module_, body_);
    function_.given = given_;
    module_.sites.resize(sites_);
    for (const auto& [var, before] : arrays_)
        *var = before;
}

}  // namespace parpy
