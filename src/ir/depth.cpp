// See depth.h.
#include "ir/depth.h"

#include <algorithm>

#include "ir/visit.h"

namespace parpy::ir {

namespace {

constexpr int kDeep = 100;

bool exceeds(const Expr& expr, int levels) {
    return levels == 0 || std::ranges::any_of(expr.operands, [&](const Expr* operand) {
               return exceeds(*operand, levels - 1);
           });
}

bool exceeds(const Body& body, int levels) {
    if (levels == 0) return true;
    bool found = false;
    for (const Stmt* stmt : body) {
        for_each_slot(*stmt, [&](const Expr* slot) { found = found || exceeds(*slot, levels); });
        for_each_body(*stmt,
                      [&](const Body& inner) { found = found || exceeds(inner, levels - 1); });
        if (found) return true;
    }
    return false;
}

}  // namespace

bool nests_deeply(const Module& module) {
    return std::ranges::any_of(module.functions,
                               [](const Function* f) { return exceeds(f->body, kDeep); });
}

}  // namespace parpy::ir
