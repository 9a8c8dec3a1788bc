// See side_by_side.h.
#include "analysis/contractions/side_by_side.h"

#include <algorithm>

#include "analysis/contractions/nest_of_sums.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool walks(const Var& array, const std::vector<Expr*>& indices, const For& loop) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const auto& stride = array.dims[i].stride;
        const bool side_by_side = stride && (*stride == 1 || *stride == -1);
        if (varies(*indices[i], loop) && !side_by_side) return false;
    }
    return std::ranges::any_of(indices, [&](const Expr* index) { return varies(*index, loop); });
}

int loads_along(const Expr& e, const For& loop) {
    int found = 0;
    for_each_expr(e, [&](const Expr& part) {
        found += part.op == Op::kLoad && walks(*part.var, part.operands, loop) ? 1 : 0;
    });
    return found;
}

bool stores_along(const Body& body, const For& loop) {
    return any_stmt(body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        return store != nullptr && walks(*store->array, store->indices, loop);
    });
}

}  // namespace parpy
