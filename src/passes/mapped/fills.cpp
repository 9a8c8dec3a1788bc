// See fills.h.
#include "passes/mapped/fills.h"

#include <algorithm>
#include <vector>

#include "analysis/geometry.h"
#include "ir/visit.h"
#include "parpy/mapping.h"

namespace parpy {

using namespace ir;

namespace {

// A nest of loops that stores a constant to every element of `array`, by its own variables; fills
// `loops` with them, outermost first.
bool is_fill(Stmt& stmt, const Var& array, std::vector<For*>& loops) {
    auto* loop = stmt.as<For>();
    if (loop == nullptr || loop->mapping.parallel() || loop->body.size() != 1) return false;
    loops.push_back(loop);
    const auto* store = loop->body.front()->as<Store>();
    if (store == nullptr) return is_fill(*loop->body.front(), array, loops);
    const bool constant = store->value->op == Op::kConst && !store->update && !store->atomic;
    return constant && store->array == &array && store->indices.size() == loops.size() &&
           std::ranges::equal(store->indices, loops, [](const Expr* index, const For* around) {
               return index->op == Op::kVar && index->var == around->var;
           });
}

void give_threads(For& loop, std::int64_t most) {
    const std::int64_t count = constant_trip_count(loop).value_or(most);
    loop.mapping.threads = std::clamp(count, std::int64_t{1}, most);
}

}  // namespace

void map_fills(Body& stmts) {
    for (std::size_t i = 0; i < stmts.size(); ++i) {
        const auto* loop = stmts[i]->as<For>();
        const bool on_gpu =
            (loop != nullptr && loop->mapping.parallel()) || stmts[i]->kind == StmtKind::kGpu;
        if (on_gpu) continue;
        for_each_body(*stmts[i], [](Body& inner) { map_fills(inner); });
        const auto* made = stmts[i]->as<Alloc>();
        std::vector<For*> loops;
        if (made == nullptr || i + 1 == stmts.size()) continue;
        if (!is_fill(*stmts[i + 1], *made->array, loops)) continue;
        constexpr std::int64_t kMostBlocks = 1024, kMost = LoopPar::kDefaultThreadsPerBlock;
        const bool is_single = loops.size() == 1;
        give_threads(*loops.front(), is_single ? kMost * kMostBlocks : kMostBlocks);
        if (!is_single) give_threads(*loops.back(), kMost);
    }
}

}  // namespace parpy
