// See normalize_accesses.h.
#include "passes/checks/normalize_accesses.h"

#include "analysis/uses.h"
#include "ir/builder.h"
#include "passes/slices/evaluation_steps.h"

namespace parpy {

using namespace ir;

void normalize_accesses(PassContext& context) {
    for (Function* function : context.module.functions) {
        Builder builder(context.module);
        VarSet unset = exposed_reads(function->body);  // may be read before they are assigned
        for (const Var* param : function->params)
            unset.erase(param);
        const auto watch = [&](const Expr& e) {
            return reaches_memory(e) || (e.op == Op::kVar && unset.contains(e.var));
        };
        // A load or call that is the whole value of a statement stays where it is.
        const auto take = [&](const EvaluationSteps::Step& step) {
            const Expr& e = *step.node;
            if (step.whole || !reaches_memory(e)) return;
            const std::string name =
                e.op == Op::kCall ? e.callee->name + "_result" : e.var->name + "_value";
            EvaluationSteps::hold(builder, name, step.node, step.out);
        };
        EvaluationSteps(builder, watch, take).body(function->body);
    }
}

}  // namespace parpy
