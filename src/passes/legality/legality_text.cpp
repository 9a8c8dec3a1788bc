// See legality_text.h.
#include "passes/legality/legality_text.h"

#include <algorithm>

namespace parpy {

using namespace ir;

void add_requirements(Module& module, const Accesses& accesses,
                      const std::vector<Alternatives>& conditions) {
    for (const Alternatives& alternatives : conditions) {
        Requirement requirement;
        for (const auto& conjunction : alternatives) {
            // Negated constraints, one each (ConstraintSystem::excluded).
            ParameterBound& bound = requirement.emplace_back();
            bound.constant = conjunction.front().value.constant;
            for (const auto& [symbol, coefficient] : conjunction.front().value.terms) {
                const Var* var = accesses.symbols()[static_cast<std::size_t>(symbol)].var;
                bound.terms.emplace_back(var, coefficient);
            }
        }
        const bool known =
            std::ranges::find(module.requirements, requirement) != module.requirements.end();
        if (!known) module.requirements.push_back(std::move(requirement));
    }
}

}  // namespace parpy
