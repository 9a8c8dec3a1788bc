// See callers.h.
#include "analysis/callers.h"

#include "ir/visit.h"

namespace parpy {

using namespace ir;

FunctionSet with_callers(const Module& module, const std::function<bool(const Function&)>& holds) {
    FunctionSet found;
    for (const Function* function : module.functions) {
        if (holds(*function)) found.insert(function);
    }
    for (std::size_t before = 0; before != found.size();) {
        before = found.size();
        for (const Function* function : module.functions) {
            for_each_expr(function->body, [&](const Expr& e) {
                if (e.op == Op::kCall && found.contains(e.callee)) found.insert(function);
            });
        }
    }
    return found;
}

}  // namespace parpy
